"""`Idempotency-Key`: the same request with the same key gets the first response again (docs/http.md)."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from holdfast.rules.limits import (
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
    MAX_STORED_RESPONSE_BYTES,
)
from holdfast.service.http.messages import Response, json_response, refusal
from holdfast.service.operations.idempotency import IdempotentRequest
from holdfast.service.operations.verification import RepeatedCheck
from holdfast.service.store.port import Overtaken
from holdfast.service.web.input import body_limit
from holdfast.wire.endpoints import OPEN_SESSION, REGISTER_DID
from holdfast.wire.errors import BODY_TOO_LARGE, INVALID_IDEMPOTENCY_KEY, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence

    from holdfast.service.http.messages import Headers, Request
    from holdfast.service.store.values import IdempotencyState, StoredResponse
    from holdfast.service.web.context import WebContext
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.models import Answer, Attestation
    from holdfast.wire.requests import Input

    A = TypeVar("A", bound=Input)

    Handler = Callable[[WebContext, Request], Awaitable[Response]]

_KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_CHARACTERS}}}")
# Leases of requests that only use the store are short, because a second try cannot have a second effect. The other
# leases last longer than any provider may take.
_LEASES_S = {OPEN_SESSION.key: 2.0, REGISTER_DID.key: 2.0}
_LEASE_S = 45.0
# Responses with these statuses are not final, because the client may retry; nor are server errors.
_NOT_FINAL = frozenset({408, 413, 429})
_FIRST_SERVER_ERROR = 500
_running: set[asyncio.Task[Any]] = set()


class KeyedRequest:
    """A request with an `Idempotency-Key`, whose body has already been read."""

    def __init__(
        self, web: WebContext, request: Request, idempotent: IdempotentRequest, state: IdempotencyState
    ) -> None:
        self._web, self._request, self.idempotent, self.state = web, request, idempotent, state
        self.method, self.path, self.query = request.method, request.path, request.query

    @property
    def version(self) -> str | None:
        """See Request."""
        return self._request.version

    @property
    def raw_path(self) -> str:
        """See Request."""
        return self._request.raw_path

    @property
    def peer(self) -> str:
        """See Request."""
        return self._request.peer

    def header(self, name: str) -> str | None:
        """See Request."""
        return self._request.header(name)

    def header_values(self, name: str) -> Sequence[str]:
        """See Request."""
        return self._request.header_values(name)

    def all_headers(self) -> Headers:
        """See Request."""
        return self._request.all_headers()

    async def body(self, limit: int) -> bytes:
        """See Request."""
        if len(self.idempotent.body) > limit:
            raise Refused(BODY_TOO_LARGE)
        return self.idempotent.body

    async def pieces(self) -> AsyncIterator[bytes]:
        """See Request."""
        yield self.idempotent.body

    def keeping(self, answer: Answer) -> StoredResponse:
        """Return the response in the form in which it is stored."""
        return self._web.service.idempotency.sealed(self.idempotent, _packed(json_response(answer)))


def stored_response(request: Request, answer: Answer) -> StoredResponse | None:
    """Return the response in its stored form, for the effect's transaction; None without an `Idempotency-Key`."""
    return request.keeping(answer) if isinstance(request, KeyedRequest) else None


def repeated_check(request: Request, shape: Callable[[Attestation], Answer]) -> RepeatedCheck | None:
    """Return the key and the stored attempt of a repeatable code check; None without an `Idempotency-Key`."""
    if not isinstance(request, KeyedRequest):
        return None
    keyed = request
    attempt = keyed.state.attempt
    return RepeatedCheck(keyed.idempotent.key, attempt, lambda attestation: keyed.keeping(shape(attestation)))


def repeatable(endpoint: Endpoint[A], handle: Handler) -> Handler:
    """Return a handler that wraps `handle` and supports `Idempotency-Key`."""
    limit = body_limit(endpoint)
    lease_s = _LEASES_S.get(endpoint.key, _LEASE_S)

    async def once(web: WebContext, request: Request) -> Response:
        name = _name(request)
        if name is None:
            return await handle(web, request)
        idempotent = IdempotentRequest(
            endpoint=f"{endpoint.method} {request.path}",
            name=name,
            body=await request.body(limit),
            ip=web.subject(request),
            lease_s=lease_s,
        )
        return await _to_the_end(_answered(web, request, idempotent, handle))

    return once


def _name(request: Request) -> str | None:
    """Return the header's value. Raises Refused if it is malformed or repeated."""
    values = request.header_values("idempotency-key")
    if not values:
        return None
    if len(values) > 1 or not _KEY.fullmatch(values[0]):
        raise Refused(INVALID_IDEMPOTENCY_KEY)
    return values[0]


async def _to_the_end(work: Coroutine[Any, Any, Response]) -> Response:
    """Finish the work even if the client disconnects in the meantime, so that a repeated request finds the response."""
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return await asyncio.shield(task)


async def _answered(web: WebContext, request: Request, idempotent: IdempotentRequest, handle: Handler) -> Response:
    while True:
        state = await web.service.idempotency.begin(idempotent)
        if isinstance(state, bytes):
            return _unpacked(state)
        try:
            return await _first(web, KeyedRequest(web, request, idempotent, state), handle)
        except Overtaken:
            continue


async def _first(web: WebContext, request: KeyedRequest, handle: Handler) -> Response:
    """Do the work, and store the response if it is final."""
    idempotency = web.service.idempotency
    try:
        response = await handle(web, request)
    except Refused as refused:
        response = refusal(refused)
    except Overtaken:
        raise
    except Exception:
        await idempotency.put_back(request.idempotent)
        raise
    packed = _packed(response)
    if _is_final(response.status) and len(packed) <= MAX_STORED_RESPONSE_BYTES:
        return _unpacked(await idempotency.finish(request.idempotent, packed))
    earlier = await idempotency.put_back(request.idempotent)
    return response if earlier is None else _unpacked(earlier)


def _is_final(status: int) -> bool:
    return status < _FIRST_SERVER_ERROR and status not in _NOT_FINAL


def _packed(response: Response) -> bytes:
    return msgspec.msgpack.encode((response.status, list(response.headers), response.body))


def _unpacked(packed: bytes) -> Response:
    return Response(*msgspec.msgpack.decode(packed, type=tuple[int, list[tuple[str, str]], bytes]))
