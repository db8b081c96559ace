"""Static responses, prepared once with an ETag; 304 if the client's copy is current (RFC 9110, section 13.1.2)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, FixedHeaders, Headers, Request, Response

if TYPE_CHECKING:
    from collections.abc import Sequence


class StaticAnswer:
    """A body with its headers, and the 304 response for a client that already has it."""

    __slots__ = ("_etag", "_full", "_unchanged")

    def __init__(
        self, body: bytes, content_type: str, cache_control: str, extra: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._etag = etag_of(body)
        shared: Headers = [("cache-control", cache_control), ("etag", self._etag), ANY_ORIGIN, EXPOSED, NO_SNIFFING]
        self._full = Response(200, FixedHeaders([("content-type", content_type), *shared, *extra]), body)
        self._unchanged = Response(304, FixedHeaders([*shared, *extra]), b"")

    def answer(self, request: Request) -> Response:
        """Return the response, or 304 if the client has the body."""
        known = request.header("if-none-match")
        if known is not None and _matches(known, self._etag):
            return self._unchanged
        return self._full


def etag_of(body: bytes) -> str:
    """Return a strong validator: the bytes' digest."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _matches(header: str, etag: str) -> bool:
    candidates = (part.strip().removeprefix("W/") for part in header.split(","))
    return any(candidate in {etag, "*"} for candidate in candidates)
