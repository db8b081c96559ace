"""Connects endpoint declarations with the functions that handle them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.service.http.messages import Response, json_response
from holdfast.service.web.input import Reader, json_object, query_values
from holdfast.service.web.repeats import repeatable
from holdfast.wire.models import Answer
from holdfast.wire.requests import Asked

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.wire.endpoints import Endpoint

A = TypeVar("A", bound=Asked)
Handler = Callable[["WebContext", "Request"], Awaitable[Response]]
AskedHandler = Callable[["WebContext", A, "Request"], Awaitable[Answer | Response]]
PlainHandler = Callable[["WebContext", "Request"], Awaitable[Answer | Response]]

HANDLERS: dict[tuple[str, str], Handler] = {}


def serves(endpoint: Endpoint[A]) -> Callable[[AskedHandler[A]], AskedHandler[A]]:
    """Register a handler that gets the endpoint's input as a struct and returns a typed answer or a whole response."""
    asked_by = Reader(endpoint).of

    def register(function: AskedHandler[A]) -> AskedHandler[A]:
        async def handle_query(web: WebContext, request: Request) -> Response:
            answer = await function(web, asked_by(query_values(request.query)), request)
            return answer if isinstance(answer, Response) else json_response(answer)

        async def handle_body(web: WebContext, request: Request) -> Response:
            answer = await function(web, asked_by(await json_object(request)), request)
            return answer if isinstance(answer, Response) else json_response(answer)

        HANDLERS[endpoint.key] = handle_query if endpoint.method == "GET" else _named(endpoint, handle_body)
        return function

    return register


def serves_plainly(*endpoints: Endpoint[Any]) -> Callable[[PlainHandler], PlainHandler]:
    """Register a handler for endpoints whose input is not parsed beforehand."""

    def register(function: PlainHandler) -> PlainHandler:
        async def handle(web: WebContext, request: Request) -> Response:
            answer = await function(web, request)
            return answer if isinstance(answer, Response) else json_response(answer)

        HANDLERS.update({endpoint.key: _named(endpoint, handle) for endpoint in endpoints})
        return function

    return register


def _named(endpoint: Endpoint[Any], handle: Handler) -> Handler:
    """Return the handler, with support for `Idempotency-Key` if the endpoint supports it."""
    return repeatable(endpoint, handle) if endpoint.keyed else handle
