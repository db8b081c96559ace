"""The requests and responses that handlers use, independent of the server."""

from __future__ import annotations

from string import punctuation
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

import msgspec

from holdfast.wire.errors import BODY_TOO_LARGE, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from holdfast.wire.errors import ErrorRow

Headers = list[tuple[str, str]]


class FixedHeaders(list[tuple[str, str]]):
    """Headers that many responses share, encoded once. Immutable."""

    __slots__ = ("pairs",)

    def __init__(self, headers: Headers) -> None:
        super().__init__(headers)
        self.pairs = _pairs(headers)


def encoded_pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return header names and values as bytes, as ASGI needs them."""
    return headers.pairs if type(headers) is FixedHeaders else _pairs(headers)


def _pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


_MAX_LENGTH_DIGITS = 18
ANY_ORIGIN = ("access-control-allow-origin", "*")
NO_SNIFFING = ("x-content-type-options", "nosniff")
EXPOSED = ("access-control-expose-headers", "X-Request-Id, Retry-After, ETag")
UNREADABLE = "\ufffd"  # in place of a header's value that granian's RSGI does not show, because it is not ASCII
BODILESS = frozenset({204, 304})  # without Content-Length (RFC 9110, section 8.6)
_JSON_HEADERS = FixedHeaders(
    [("content-type", "application/json"), ("cache-control", "no-store"), ANY_ORIGIN, EXPOSED, NO_SNIFFING]
)
_encode = msgspec.json.Encoder().encode


def in_ascii(octets: bytes) -> str:
    """Return a path or query with octets beyond ASCII, which no URL may have, percent-encoded (RFC 3986)."""
    return octets.decode() if octets.isascii() else quote(octets, safe=punctuation)


class Request(Protocol):
    """One request.

    `path` is decoded, `raw_path` and `query` are as `in_ascii` returns them; `peer` is the address of the connection's
    other end.
    """

    method: str
    path: str
    query: str

    @property
    def version(self) -> str | None:
        """The version of HTTP, such as `1.1`; None if the server does not say."""
        ...

    @property
    def raw_path(self) -> str:
        """The path with its percent-encoding."""
        ...

    @property
    def peer(self) -> str:
        """The address of the connection's other end; empty if there is no address."""
        ...

    def header(self, name: str) -> str | None:
        """Return the value of the first header with this lower-case name; None if none exists."""
        ...

    def header_values(self, name: str) -> Sequence[str]:
        """Return the values of all headers with this lower-case name, in order."""
        ...

    def all_headers(self) -> Headers:
        """Return all headers, with names in lower case."""
        ...

    async def body(self, limit: int) -> bytes:
        """Return the body. Raises Refused(BODY_TOO_LARGE) past `limit` bytes, Refused(REQUEST_TIMEOUT) if slow."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body's pieces as they arrive; the caller limits size and time. Raises ClientGone."""
        ...


def is_longer(content_length: str, limit: int) -> bool:
    """Return whether a Content-Length is a number above the limit."""
    digits = content_length.lstrip("0")
    return digits.isascii() and digits.isdigit() and (len(digits) > _MAX_LENGTH_DIGITS or int(digits) > limit)


async def joined(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    """Return a body from its pieces. Raises Refused(BODY_TOO_LARGE) past `limit` bytes, ClientGone."""
    chunks, size = [], 0
    async for chunk in pieces:
        size += len(chunk)
        if size > limit:
            raise Refused(BODY_TOO_LARGE)
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


class ClientGone(Exception):
    """The client disconnected or broke the protocol before its body was complete."""


class Response:
    """An immutable response with status, headers and body. The entry point adds the request ID as a header."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes | bytearray) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class StreamedResponse(Response):
    """A response whose body of `size` bytes is produced while it is being sent; its headers do not name the size."""

    __slots__ = ("pieces", "size")

    def __init__(self, status: int, headers: Headers, pieces: AsyncIterator[bytes | bytearray], size: int) -> None:
        super().__init__(status, headers, b"")
        self.pieces = pieces
        self.size = size


def length_missing(response: Response) -> bool:
    """Return whether a response without a body still needs a Content-Length header."""
    return response.status not in BODILESS and not any(name == "content-length" for name, _ in response.headers)


# The response to clients that broke the protocol; clients that disconnected cannot receive a response.
ABORTED = Response(400, [ANY_ORIGIN, ("connection", "close")], b"")


REFUSED = 400  # and all higher statuses
_TIMED_OUT = 408
_BODILESS_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def body_may_follow(request: Request, refused: Response) -> bool:
    """Return whether the client of a refused request may still be sending its body.

    A client that sent `Expect` waits until it is asked; one that was too slow is not waited for again.
    """
    if request.method in _BODILESS_METHODS or refused is ABORTED or refused.status == _TIMED_OUT:
        return False
    has_length = (request.header("content-length") or "0") != "0"
    if not has_length and request.header("transfer-encoding") is None and request.version != "2":
        return False
    return request.header("expect") is None


def json_response(value: object, status: int = 200) -> Response:
    """Return a JSON response that caches must not store."""
    return Response(status, _JSON_HEADERS, _encode(value))


def cached_json(value: object, cache_control: str) -> Response:
    """Return a JSON response that caches may store."""
    headers = [header for header in _JSON_HEADERS if header[0] != "cache-control"]
    return Response(200, [*headers, ("cache-control", cache_control)], _encode(value))


def raw_json(body: bytes | bytearray, status: int = 200) -> Response:
    """Return a response whose body is already encoded as JSON."""
    return Response(status, _JSON_HEADERS, body)


def error_response(row: ErrorRow, extra: Sequence[tuple[str, str]] = ()) -> Response:
    """Return the error row's response."""
    return Response(row.status, [*_JSON_HEADERS, *extra], _encode({"error": row.error}))


def refusal(refused: Refused) -> Response:
    """Return the response to a refused request, with a Retry-After header if the time is known."""
    if refused.retry_after_s is None:
        return error_response(refused.row)
    return error_response(refused.row, [("retry-after", str(refused.retry_after_s))])
