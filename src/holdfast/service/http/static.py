"""Static responses, prepared once with an ETag. A client whose copy is current gets 304 (RFC 9110, section 13.1.2).

Larger bodies are also served with gzip; they are compressed in a thread on the first request that accepts gzip.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import threading
from typing import TYPE_CHECKING

from holdfast.rules.header_lists import is_known, listed
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, FixedHeaders, Headers, Request, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

WORTH_PACKING = 1024  # bytes; below this, a compressed response's headers cost what it saves
_VARIES = ("vary", "Accept-Encoding")
_PACKED = ("content-encoding", "gzip")
_ONE_AT_A_TIME = threading.Lock()


class _Form:
    """One encoding of a body: the full response, and the 304 response for a client that has the body."""

    __slots__ = ("etag", "full", "unchanged")

    def __init__(self, etag: str, content_type: str, shared: Headers, body: bytes) -> None:
        headers: Headers = [("etag", etag), *shared]
        self.etag = etag
        self.full = Response(200, FixedHeaders([("content-type", content_type), *headers]), body)
        self.unchanged = Response(304, FixedHeaders([it for it in headers if it != _PACKED]), b"")


class StaticAnswer:
    """A body with its headers, and the 304 response for a client that already has it."""

    __slots__ = ("_content_type", "_packed", "_plain", "_shared", "_worth")

    def __init__(
        self, body: bytes, content_type: str, cache_control: str, extra: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._worth = len(body) >= WORTH_PACKING
        varies = [_VARIES] if self._worth else []
        self._shared: Headers = [("cache-control", cache_control), ANY_ORIGIN, EXPOSED, NO_SNIFFING, *varies, *extra]
        self._content_type = content_type
        self._plain = _Form(etag_of(body), content_type, self._shared, body)
        self._packed: _Form | None = None

    async def serve(self, request: Request) -> Response:
        """Return the response in an encoding that the client accepts, or 304 if the client has the body."""
        if self._packed is None and self._worth and accepts_gzip(request.header("accept-encoding")):
            await asyncio.to_thread(self._pack)
        return self.answer(request)

    def answer(self, request: Request) -> Response:
        """Return what `serve` returns, but do not compress a body that is not compressed yet."""
        form = self._plain
        if self._packed is not None and accepts_gzip(request.header("accept-encoding")):
            form = self._packed
        known = request.header("if-none-match")
        if known is None:
            return form.full
        return self._unchanged(known, form)

    def _pack(self) -> None:
        with _ONE_AT_A_TIME:
            if self._packed is None:
                packed = gzip.compress(self._plain.full.body, mtime=0)
                etag = f'{self._plain.etag[:-1]}-gzip"'  # it differs between codings (RFC 9110, section 8.8.1)
                self._packed = _Form(etag, self._content_type, [_PACKED, *self._shared], packed)

    def _unchanged(self, known: str, form: _Form) -> Response:
        """Return 304 if the client has the body in any encoding, since its content is the same; otherwise the body."""
        for held in (form, self._packed, self._plain):
            if held is not None and is_known(known, held.etag):
                return held.unchanged
        return form.full


def accepts_gzip(header: str | None) -> bool:
    """Return whether an `Accept-Encoding` lists gzip or `*` with a weight above zero (RFC 9110, section 12.5.3)."""
    weights: dict[str, str] = {}
    for part in listed(header or ""):
        name, _, weight = part.lower().partition(";")
        weights[name.strip()] = weight.replace(" ", "").removeprefix("q=")
    weight = weights.get("gzip", weights.get("*", "0"))
    return weight.strip("0.") != "" or weight == ""


def etag_of(body: bytes) -> str:
    """Return a strong ETag: a digest of the bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
