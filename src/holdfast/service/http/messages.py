"""Requests and responses as handlers see them, whatever server brings them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from holdfast.wire.errors import ErrorRow, Refused

Headers = list[tuple[str, str]]


class FixedHeaders(list[tuple[str, str]]):
    """Headers that many answers share, encoded once. Never changed after they are made."""

    __slots__ = ("pairs",)

    def __init__(self, headers: Headers) -> None:
        super().__init__(headers)
        self.pairs = _pairs(headers)


def encoded_pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Names and values as bytes, as ASGI wants them."""
    return headers.pairs if type(headers) is FixedHeaders else _pairs(headers)


def _pairs(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


ANY_ORIGIN = ("access-control-allow-origin", "*")
NO_SNIFFING = ("x-content-type-options", "nosniff")
EXPOSED = ("access-control-expose-headers", "X-Request-Id, Retry-After, ETag")
BODILESS = frozenset({204, 304})  # they say nothing about a length (RFC 9110, section 8.6)
_JSON_HEADERS = FixedHeaders(
    [("content-type", "application/json"), ("cache-control", "no-store"), ANY_ORIGIN, EXPOSED, NO_SNIFFING]
)
_encode = msgspec.json.Encoder().encode


class Request(Protocol):
    """One request. `path` is decoded, `raw_path` as it came; `peer` is the address of the other end."""

    method: str
    path: str
    query: str

    @property
    def raw_path(self) -> str:
        """The path with its percent-encoding."""
        ...

    @property
    def peer(self) -> str:
        """Address of the connection's other end, empty where there is none."""
        ...

    def header(self, name: str) -> str | None:
        """The first header of this lower-case name."""
        ...

    def header_values(self, name: str) -> Sequence[str]:
        """Every header of this lower-case name, in order."""
        ...

    def all_headers(self) -> Headers:
        """Every header, names in lower case."""
        ...

    async def body(self, limit: int) -> bytes:
        """The whole body. Raises Refused(BODY_TOO_LARGE) past `limit` bytes, Refused(REQUEST_TIMEOUT) when slow."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives, for whoever counts and times it. Raises ClientGone."""
        ...


class ClientGone(Exception):
    """The client left, or broke the protocol, before its body was whole: there is nobody to answer."""


class Response:
    """Status, headers and the whole body. The request ID, a header of its own, is filled in by the application."""

    __slots__ = ("body", "headers", "request_id", "status")

    def __init__(self, status: int, headers: Headers, body: bytes, request_id: str = "") -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.request_id = request_id


class StreamedResponse(Response):
    """A body that is made while it is sent; its length stands in the headers."""

    __slots__ = ("pieces",)

    def __init__(self, status: int, headers: Headers, pieces: AsyncIterator[bytes], request_id: str = "") -> None:
        super().__init__(status, headers, b"", request_id)
        self.pieces = pieces


def named(response: Response, request_id: str) -> Response:
    """The response with its request ID; the given one may be shared by many requests."""
    if isinstance(response, StreamedResponse):
        return StreamedResponse(response.status, response.headers, response.pieces, request_id)
    return Response(response.status, response.headers, response.body, request_id)


def length_missing(response: Response) -> bool:
    """Whether an empty answer has yet to say that it is empty."""
    return response.status not in BODILESS and not any(name == "content-length" for name, _ in response.headers)


# Whoever broke the protocol may still be listening; whoever left is not.
ABORTED = Response(400, [ANY_ORIGIN, ("connection", "close")], b"")


def json_response(value: Any, status: int = 200) -> Response:
    """The value as JSON, not to be stored by caches."""
    return Response(status, _JSON_HEADERS, _encode(value))


def cached_json(value: Any, cache_control: str) -> Response:
    """The value as JSON that may be kept."""
    headers = [header for header in _JSON_HEADERS if header[0] != "cache-control"]
    return Response(200, [*headers, ("cache-control", cache_control)], _encode(value))


def raw_json(body: bytes, status: int = 200) -> Response:
    """Bytes that are JSON already."""
    return Response(status, _JSON_HEADERS, body)


def error_response(row: ErrorRow, extra: Sequence[tuple[str, str]] = ()) -> Response:
    """The row as an error body."""
    return Response(row.status, [*_JSON_HEADERS, *extra], _encode({"error": row.error}))


def refusal(refused: Refused) -> Response:
    """The answer to a refusal, with the time to wait where it is known."""
    if refused.retry_after_s is None:
        return error_response(refused.row)
    return error_response(refused.row, [("retry-after", str(refused.retry_after_s))])
