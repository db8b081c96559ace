"""Reads queries and Accept headers of requests to the trustless gateway. Recent results are cached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.rules.gateway import Wanted, wanted
from holdfast.service.web.failures import NEVER_RENDERED, SHARED

if TYPE_CHECKING:
    from holdfast.service.http.messages import Headers, Request
    from holdfast.wire.requests import ReadBlock

FOLDER = "/ipfs/"
_FOR_EVER = ("cache-control", "public, max-age=29030400, immutable")
_REMEMBERED = 256
_LONGEST = 200  # characters of what is remembered


@dataclass(frozen=True, slots=True)
class Question:
    """What a request asks for, apart from the CID and the path: the form of the response.

    Attributes:
        filename: the name under which the client wants to save the response.
        shape: the part of the ETag after the CID, if the request has no path below the CID.
        shared: headers that every such response has.
    """

    wanted: Wanted
    filename: str | None
    shape: str
    shared: tuple[tuple[str, str], ...]

    def etag(self, cid: str, path: str = "") -> str:
        """Return the ETag of the content at a path below a CID."""
        return self.wanted.etag(cid, path) if path else f'"{cid}.{self.shape}"'

    def headers(self, request: Request, cid: str, path: str = "") -> Headers:
        """Return the response's headers. The CID must be valid."""
        form = self.wanted
        own: Headers = [
            ("etag", self.etag(cid, path)),
            ("content-disposition", form.disposition(cid, self.filename)),
            ("x-ipfs-path", request.raw_path),
            ("x-ipfs-roots", cid),
            *self.shared,
        ]
        if form.from_accept or form.overruled:
            own.append(("content-location", form.location(f"{FOLDER}{cid}/{path}" if path else FOLDER + cid)))
        return own


def question_of(query: ReadBlock, request: Request) -> Question:
    """Return the form of response that the request's query and Accept header ask for. Raises SnapshotRefused."""
    accept = request.header("accept") or ""
    return _remembered(query, accept) if len(request.query) + len(accept) <= _LONGEST else _read(query, accept)


def _read(query: ReadBlock, accept: str) -> Question:
    form = wanted(query, accept)
    shared = [("content-type", form.media), _FOR_EVER, ("vary", "Accept"), *SHARED, *NEVER_RENDERED]
    return Question(form, query.filename, form.shape(""), tuple(shared))


_remembered = lru_cache(_REMEMBERED)(_read)
