"""Connects endpoint declarations with the functions that handle them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from holdfast.service.http.messages import Response, json_response
from holdfast.service.web.idempotency import repeatable
from holdfast.service.web.input import reads
from holdfast.wire.models import Answer
from holdfast.wire.requests import Input

if TYPE_CHECKING:
    from holdfast.rules.snapshot_tokens import Bearer
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.wire.endpoints import Endpoint

A = TypeVar("A", bound=Input)
Handler = Callable[["WebContext", "Request"], Awaitable[Response]]
InputHandler = Callable[["WebContext", A, "Request"], Awaitable[Answer | Response]]
BearerHandler = Callable[["WebContext", "Bearer", A, "Request"], Awaitable[Answer | Response]]
PlainHandler = Callable[["WebContext", "Request"], Awaitable[Answer | Response]]

HANDLERS: dict[tuple[str, str], Handler] = {}


def serves(endpoint: Endpoint[A]) -> Callable[[InputHandler[A]], InputHandler[A]]:
    """Register a handler that gets the endpoint's input as a struct and returns a typed answer or a whole response."""
    read = reads(endpoint)

    def register(function: InputHandler[A]) -> InputHandler[A]:
        async def handle(web: WebContext, request: Request) -> Answer | Response:
            return await function(web, await read(request), request)

        _register(endpoint, handle)
        return function

    return register


def serves_bearer(
    endpoint: Endpoint[A], admit: Callable[[WebContext, Request], Awaitable[Bearer]]
) -> Callable[[BearerHandler[A]], BearerHandler[A]]:
    """Register a handler that also gets the bearer that `admit` returns before the input is read."""
    read = reads(endpoint)

    def register(function: BearerHandler[A]) -> BearerHandler[A]:
        async def handle(web: WebContext, request: Request) -> Answer | Response:
            bearer = await admit(web, request)
            return await function(web, bearer, await read(request), request)

        _register(endpoint, handle)
        return function

    return register


def serves_plainly(*endpoints: Endpoint[Input]) -> Callable[[PlainHandler], PlainHandler]:
    """Register a handler for endpoints that declare no input."""
    assert all(endpoint.input is None for endpoint in endpoints)

    def register(function: PlainHandler) -> PlainHandler:
        for endpoint in endpoints:
            _register(endpoint, function)
        return function

    return register


def _register(endpoint: Endpoint[A], function: PlainHandler) -> None:
    """Register the handler, with support for `Idempotency-Key` if the endpoint supports it."""

    async def handle(web: WebContext, request: Request) -> Response:
        answer = await function(web, request)
        return answer if isinstance(answer, Response) else json_response(answer)

    HANDLERS[endpoint.key] = repeatable(endpoint, handle) if endpoint.keyed else handle
