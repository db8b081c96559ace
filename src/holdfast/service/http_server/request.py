"""A request as the parser hands it over, and its body as it arrives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

import httptools

from holdfast.rules.limits import MAX_BODY_BYTES
from holdfast.service.web.http import ClientGone
from holdfast.wire.errors import BODY_TOO_LARGE, REQUEST_TIMEOUT, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.service.web.http import Headers

Fields = list[tuple[bytes, bytes]]


class BodySource(Protocol):
    """What a request needs of its connection."""

    def want_body(self, request: IncomingRequest) -> None:
        """Somebody waits for the rest of this body: read on, and not for ever."""
        ...

    def hold(self) -> None:
        """Nobody has asked for this body, and it is large already: read no further."""
        ...


def split_target(target: bytes) -> tuple[str, str]:
    """Path, as it was sent, and query of a request target (RFC 9112, section 3.2). Raises ValueError."""
    if not target.startswith((b"/", b"*")):
        target = _origin_form(target)
    path, _, query = target.decode("ascii").partition("#")[0].partition("?")
    return path, query


def _origin_form(target: bytes) -> bytes:
    """A proxy's absolute form is answered as if it named the path alone."""
    try:
        url = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError as error:
        raise ValueError("no request target") from error
    return (url.path or b"/") + (b"?" + url.query if url.query else b"")


def _too_slow() -> Refused:
    return Refused(REQUEST_TIMEOUT)


class IncomingRequest:
    """Fills Request. Header names are in lower case; `size` counts the bytes of the body that came."""

    __slots__ = (
        "_body", "_failure", "_fields", "_limit", "_source", "_waiter",
        "complete", "keep_alive", "method", "old", "path", "peer", "query", "raw_path", "size",
    )  # fmt: skip

    def __init__(self, source: BodySource, method: str, target: bytes, fields: Fields, peer: str) -> None:
        """Raises ValueError for a target that is none."""
        self._source = source
        self._fields = fields
        self._body: list[bytes] = []
        self.size = 0
        self._limit = MAX_BODY_BYTES
        self._waiter: asyncio.Future[None] | None = None
        self._failure: Callable[[], Exception] | None = None  # made when it is raised: one kept here would keep us
        self.complete = False
        self.keep_alive = False
        self.old = False  # HTTP/1.0
        self.method = method
        self.peer = peer
        self.raw_path, self.query = split_target(target)
        self.path = unquote(self.raw_path) if "%" in self.raw_path else self.raw_path

    def header(self, name: str) -> str | None:
        """See Request."""
        wanted = name.encode("latin-1")
        for key, value in self._fields:
            if key == wanted:
                return value.decode("latin-1")
        return None

    def header_values(self, name: str) -> Sequence[str]:
        """See Request."""
        wanted = name.encode("latin-1")
        return [value.decode("latin-1") for key, value in self._fields if key == wanted]

    def all_headers(self) -> Headers:
        """See Request."""
        return [(key.decode("latin-1"), value.decode("latin-1")) for key, value in self._fields]

    async def body(self, limit: int) -> bytes:
        """See Request."""
        length = self.header("content-length")
        if length is not None and int(length) > limit:
            raise Refused(BODY_TOO_LARGE)
        self._limit = limit
        while not (self.complete or self._failure or self.size > limit):
            await self._more()
        if self.size > limit:
            raise Refused(BODY_TOO_LARGE)
        if self._failure:
            raise self._failure()
        return b"".join(self._body)

    async def _more(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        self._source.want_body(self)
        try:
            await self._waiter
        finally:
            self._waiter = None

    # -- what the connection tells -------------------------------------------------------------------------------------

    @property
    def plainly_chunked(self) -> bool:
        """Whether chunks are the one coding of the body."""
        return [coding.lower() for coding in self.header_values("transfer-encoding")] == ["chunked"]

    @property
    def awaited(self) -> bool:
        """Whether a handler waits for this body."""
        return self._waiter is not None

    def feed(self, chunk: bytes) -> None:
        """A piece of the body came."""
        self._body.append(chunk)
        self.size += len(chunk)
        if self.size <= self._limit:
            return
        if self._waiter:
            self._wake()
        else:
            self._source.hold()

    def finish(self) -> None:
        """The body is whole."""
        self.complete = True
        self._wake()

    def break_off(self) -> None:
        """The rest of the body will never come."""
        self._fail(ClientGone)

    def time_out(self) -> None:
        """The rest of the body takes too long."""
        self._fail(_too_slow)

    def _fail(self, failure: Callable[[], Exception]) -> None:
        if not self.complete and self._failure is None:
            self._failure = failure
            self._wake()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)
