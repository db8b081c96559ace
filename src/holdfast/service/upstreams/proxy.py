"""Sends requests to upstreams. Responses are limited in size and have only the headers that describe the content."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holdfast.rules.limits import (
    LARGE_RESPONSE_BYTES,
    MAX_UPSTREAM_BYTES,
    PROXY_TIMEOUT_S,
    UPSTREAM_ROOM_BYTES,
    UPSTREAM_ROOM_WAITING,
    UPSTREAM_ROOM_WAITS_S,
)
from holdfast.wire.connection_errors import connection_words

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

REQUEST_HEADERS = frozenset({"accept", "accept-encoding", "accept-language", "if-none-match", "if-modified-since"})
RESPONSE_HEADERS = frozenset(
    {"content-type", "content-encoding", "content-language", "cache-control", "etag", "last-modified", "expires",
     "vary", "retry-after"}
)  # fmt: skip
_LOOKS_EVERY_S = 0.05
_FINAL = range(200, 600)  # an interim status in place of a final one would break HTTP on the client's connection


class UpstreamError(Exception):
    """The upstream cannot be reached or is too slow, or its response is invalid or too large.

    Attributes:
        kind: `unreachable`, `timeout` or `nonsense`.
    """

    def __init__(self, why: str, kind: str = "nonsense") -> None:
        super().__init__(why)
        self.kind = kind


class AnswerBody(bytearray):
    """An answer's body. A large one counts until nothing refers to it, so while it is read, checked and sent.

    The large ones of a process have at most UPSTREAM_ROOM_BYTES together. Before a large one is read on, it reserves
    room for the whole, and waits for it: if each took its room by and by, all might wait for each other.
    """

    in_use: ClassVar[int] = 0
    waiting: ClassVar[int] = 0
    __slots__ = ("_counted", "_stated")

    def __init__(self, stated: int | None = None) -> None:
        """`stated` is the length that the upstream states, if it does."""
        super().__init__()
        self._counted = 0
        self._stated = stated

    async def add(self, piece: bytes) -> None:
        """Append a piece. Raises UpstreamError."""
        size = len(self) + len(piece)
        if max(size, self._stated or 0) > MAX_UPSTREAM_BYTES:
            raise UpstreamError("answer too large")
        if size > LARGE_RESPONSE_BYTES and size > self._counted:
            await self._reserve(max(size, self._stated or MAX_UPSTREAM_BYTES))
        self.extend(piece)

    def whole(self) -> bytes | AnswerBody:
        """Return the body; a small one as bytes, because granian sends nothing else at once."""
        if not self._counted:
            return bytes(self)
        self._count(len(self))
        return self

    async def _reserve(self, size: int) -> None:
        if not self._fits(size):
            if AnswerBody.waiting >= UPSTREAM_ROOM_WAITING:
                raise UpstreamError("too many large answers at the same time")
            await self._room(size)
        self._count(size)

    async def _room(self, size: int) -> None:
        """Wait until an answer of this size has room. Raises UpstreamError."""
        AnswerBody.waiting += 1
        ends = time.monotonic() + UPSTREAM_ROOM_WAITS_S
        try:
            while not self._fits(size):
                if time.monotonic() > ends:
                    raise UpstreamError("too many large answers at the same time")
                await asyncio.sleep(_LOOKS_EVERY_S)
        finally:
            AnswerBody.waiting -= 1

    def _fits(self, size: int) -> bool:
        return AnswerBody.in_use + size - self._counted <= UPSTREAM_ROOM_BYTES

    def _count(self, size: int) -> None:
        AnswerBody.in_use += size - self._counted
        self._counted = size

    def __del__(self) -> None:
        AnswerBody.in_use -= self._counted


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """Status, content headers and body, as the upstream sent them."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | bytearray


async def fetch(
    session: Callable[[], aiohttp.ClientSession],
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes | None = None,
) -> UpstreamAnswer:
    """Send a request to an upstream. `url` is sent unchanged. Raises UpstreamError."""
    # Imported here, because importing aiohttp takes a quarter of a second, and only services with upstreams need
    # aiohttp.
    import aiohttp
    from yarl import URL

    try:
        async with (
            asyncio.timeout(PROXY_TIMEOUT_S),
            session().request(
                method, URL(url, encoded=True), headers=headers, data=body, allow_redirects=False
            ) as answer,
        ):
            if answer.status not in _FINAL:
                raise UpstreamError(f"status {answer.status}")
            content = await _bounded(answer)
            return UpstreamAnswer(answer.status, _content_headers(answer), content)
    except TimeoutError as error:
        raise UpstreamError(connection_words(error), "timeout") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise UpstreamError(connection_words(error), "unreachable") from error


async def _bounded(answer: aiohttp.ClientResponse) -> bytes | AnswerBody:
    body = AnswerBody(answer.content_length)
    async for chunk in answer.content.iter_any():
        await body.add(chunk)
    return body.whole()


def _content_headers(answer: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    """Return the headers to forward.

    Values with characters outside printable ASCII are left out (RFC 9110, section 5.5).
    """
    return [
        (name.lower(), value)
        for name, value in answer.headers.items()
        if name.lower() in RESPONSE_HEADERS and _is_plain(value)
    ]


def _is_plain(value: str) -> bool:
    return value.isascii() and value.replace("\t", " ").isprintable()
