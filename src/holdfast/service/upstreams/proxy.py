"""Sends requests to upstreams. Responses are limited in size and have only the headers that describe the content."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.limits import MAX_UPSTREAM_BYTES, PROXY_TIMEOUT_S
from holdfast.wire.connection_errors import connection_words

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

REQUEST_HEADERS = frozenset({"accept", "accept-encoding", "accept-language", "if-none-match", "if-modified-since"})
RESPONSE_HEADERS = frozenset(
    {"content-type", "content-encoding", "content-language", "cache-control", "etag", "last-modified", "expires",
     "vary", "retry-after"}
)  # fmt: skip
_FINAL = range(200, 600)  # an interim status in place of a final one would break HTTP on the client's connection


class UpstreamError(Exception):
    """The upstream cannot be reached or is too slow, or its response is invalid or too large.

    Attributes:
        kind: `unreachable`, `timeout` or `nonsense`.
    """

    def __init__(self, why: str, kind: str = "nonsense") -> None:
        super().__init__(why)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """Status, content headers and body, as the upstream sent them."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


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


async def _bounded(answer: aiohttp.ClientResponse) -> bytes:
    chunks, size = [], 0
    async for chunk in answer.content.iter_any():
        size += len(chunk)
        if size > MAX_UPSTREAM_BYTES:
            raise UpstreamError("answer too large")
        chunks.append(chunk)
    return b"".join(chunks)


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
