"""The entry point for ASGI servers: granian if an indexer is configured, uvicorn, other servers and tests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.rules.limits import BODY_TIMEOUT_S, DROPPED_BYTES, DROPPED_S
from holdfast.service.http.deadlines import Deadlines
from holdfast.service.http.large_responses import LimitedResponse
from holdfast.service.http.messages import (
    ABORTED,
    REFUSED,
    ClientGone,
    body_may_follow,
    encoded_pairs,
    in_ascii,
    is_longer,
    joined,
    length_missing,
)
from holdfast.service.http.worker_signals import STOPPING, handle_held_signals
from holdfast.wire.errors import BODY_TOO_LARGE, REQUEST_TIMEOUT, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from holdfast.service.http.connections import Activity
    from holdfast.service.http.messages import Headers
    from holdfast.service.web.application import Application

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

_CLOSE = (b"connection", b"close")


class AsgiRequest:
    """Implements Request for an ASGI scope."""

    __slots__ = ("_deadlines", "_headers", "_more", "_receive", "_scope", "method", "path", "query")

    def __init__(self, scope: dict[str, Any], receive: Receive, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._more = True
        self._scope = scope
        self._receive = receive
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: str = in_ascii(scope["query_string"])

    @property
    def version(self) -> str | None:
        """See Request."""
        version: str | None = self._scope.get("http_version")
        return version

    @property
    def raw_path(self) -> str:
        """See Request."""
        return in_ascii(self._scope.get("raw_path") or self.path.encode())

    @property
    def peer(self) -> str:
        """See Request."""
        client = self._scope.get("client")
        return str(client[0]) if client else ""

    def header(self, name: str) -> str | None:
        """See Request."""
        wanted = name.encode("latin-1")
        for key, value in self._headers:
            if key == wanted:
                return value.decode("latin-1")
        return None

    def header_values(self, name: str) -> Sequence[str]:
        """See Request."""
        wanted = name.encode("latin-1")
        return [value.decode("latin-1") for key, value in self._headers if key == wanted]

    def all_headers(self) -> Headers:
        """See Request."""
        return [(key.decode("latin-1"), value.decode("latin-1")) for key, value in self._headers]

    async def body(self, limit: int) -> bytes:
        """See Request."""
        length = self.header("content-length")
        if length is not None and is_longer(length, limit):
            raise Refused(BODY_TOO_LARGE)
        try:
            return await self._deadlines.within(joined(self.pieces(), limit))
        except TimeoutError:
            raise Refused(REQUEST_TIMEOUT) from None

    async def pieces(self) -> AsyncIterator[bytes]:
        """See Request."""
        while self._more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            self._more = message.get("more_body", False)
            yield message.get("body", b"")

    @property
    def must_be_read_before_end(self) -> bool:
        """Whether the server gives no rest of the body after the response's end, as ASGI says. granian gives it."""
        return self._more and "http.response.pathsend" not in self._scope.get("extensions", {})

    async def drop_rest(self) -> None:
        """Read what is left of the body and drop it, within limits (RFC 9112, section 9.6).

        Otherwise the connection would be reset while the client writes, and some clients would not read the refusal.
        """
        if not self._more:
            return
        size = 0
        with suppress(TimeoutError, ClientGone):
            async with asyncio.timeout(DROPPED_S):
                async for chunk in self.pieces():
                    size += len(chunk)
                    if size > DROPPED_BYTES:
                        return


class AsgiEntry:
    """The ASGI application."""

    def __init__(self, application: Application, activity: Activity | None = None) -> None:
        """Note the requests of each connection in `activity`, if it is given."""
        self._application = application
        self._activity = activity
        self._deadlines = Deadlines(BODY_TIMEOUT_S)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Handle one request, or follow the server's lifespan."""
        if scope["type"] != "http":
            await self._other(scope["type"], receive, send)
        elif self._activity is None:
            await self._handle(scope, receive, send)
        else:
            host, port = scope.get("client") or ("", 0)
            with self._activity.request(f"{host}:{port}"):
                await self._handle(scope, receive, send)

    async def _handle(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        request = AsgiRequest(scope, receive, self._deadlines)
        try:
            response, request_id = await self._application.respond(request)
            headers = [*encoded_pairs(response.headers), (b"x-request-id", request_id.encode("ascii"))]
            if STOPPING.begun and _CLOSE not in headers:
                headers.append(_CLOSE)
        except ClientGone:  # without any response, granian would send a 500
            response, headers = ABORTED, [*encoded_pairs(ABORTED.headers)]
        if type(response) is LimitedResponse:
            await send_limited(send, response, headers)
            return
        if response.body or length_missing(response):
            headers.append((b"content-length", b"%d" % len(response.body)))
        drops = response.status >= REFUSED and body_may_follow(request, response)
        ends_later = drops and request.must_be_read_before_end
        if ends_later and _CLOSE not in headers:
            headers.append(_CLOSE)
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": ends_later})
        if drops:
            await request.drop_rest()
        if ends_later:
            await send({"type": "http.response.body", "body": b""})

    async def _other(self, kind: str, receive: Receive, send: Send) -> None:
        if kind == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._application.start()
        except Exception as error:  # noqa: BLE001 - whatever the error is, the server must learn that the start failed
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        handle_held_signals(asyncio.get_running_loop())
        await receive()
        await self._application.stop()
        await send({"type": "lifespan.shutdown.complete"})


async def send_limited(send: Send, response: LimitedResponse, headers: list[tuple[bytes, bytes]]) -> None:
    """Send a large body only as fast as the client takes it."""
    try:
        headers.append((b"content-length", b"%d" % response.size))
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        async for piece in response.pieces:
            for at in range(0, len(piece), response.part_bytes):
                async with response.slot.part():
                    part = bytes(piece[at : at + response.part_bytes])
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    except TimeoutError:
        return  # the client does not read: without its last part, the server breaks the response off
    finally:
        response.slot.leave()
