"""GET and HEAD /ipfs/{cid}: the trustless gateway, which serves blocks and CAR files and renders nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.content.cids import bytes_of
from holdfast.content.errors import ContentError
from holdfast.rules.gateway import Form, Wanted, byte_range, identity_car, is_known, wanted
from holdfast.service.http.messages import Headers, Response, StreamedResponse
from holdfast.service.web.failures import NEVER_RENDERED, SHARED, failure_response
from holdfast.service.web.input import query_values
from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import IPFS, ErrorForm
from holdfast.wire.failures import (
    BAD_REQUEST,
    BLOCK_NOT_FOUND,
    NOT_ACCEPTABLE,
    NOT_CACHED,
    PATH_NOT_FOUND,
    RANGE_BEYOND_END,
    SnapshotRefused,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.service.http.messages import Request
    from holdfast.service.operations.snapshot_reading import SnapshotReading
    from holdfast.service.store.snapshot_index import BlockPlace
    from holdfast.service.web.context import WebContext

_FOLDER = "/ipfs/"
_FOR_EVER = ("cache-control", "public, max-age=29030400, immutable")
_MAX_SEGMENTS = 16
_SENT_WHOLE = 1024 * 1024  # a file up to this size costs less in one piece, and a lost block is then a plain 404
# The CID that contains the empty block; clients request it to probe a gateway (Trustless Gateway, Probe).
PROBE = "bafkqaaa"


@serves_plainly(IPFS)
async def ipfs(web: WebContext, request: Request) -> Response:
    """GET /ipfs/{cid} and the paths below it."""
    web.snapshots.reads.count(web.subject(request))
    if request.header("service-worker") == "script":
        raise SnapshotRefused(BAD_REQUEST, "a service worker is not given out here")
    cid, *path = _segments(request)
    query = query_values(request.query)
    asked = wanted(query, request.header("accept"))
    if asked.form is Form.RECORD:
        raise SnapshotRefused(NOT_ACCEPTABLE)
    if asked.form is Form.RAW and path:
        raise SnapshotRefused(NOT_ACCEPTABLE, "a raw block is given out by its own CID, without a path")
    inline = identity_car(cid)
    if inline is not None and (cid == PROBE or asked.form is Form.CAR):
        return _inline(request, query, asked, (cid, path, inline))
    return await _found(web.snapshots.reading, request, (cid, path), (query, asked))


async def _found(
    reading: SnapshotReading,
    request: Request,
    place: tuple[str, list[str]],
    question: tuple[Mapping[str, str], Wanted],
) -> Response:
    (cid, path), (query, asked) = place, question
    try:
        top = await reading.place(_canonical(cid))
    except SnapshotRefused as refused:
        if refused.row is BLOCK_NOT_FOUND and "only-if-cached" in (request.header("cache-control") or ""):
            raise SnapshotRefused(NOT_CACHED) from None
        raise
    headers = _headers(request, query, asked, (cid, path))
    if is_known(request.header("if-none-match"), asked.etag(cid, "/".join(path))):
        return Response(304, headers, b"")
    if asked.form is Form.RAW:
        return _ranged(request, [*headers, ("accept-ranges", "bytes")], await reading.block(top), asked.etag(cid, ""))
    return await _car(reading, request, (top, path), (headers, asked))


async def _car(
    reading: SnapshotReading, request: Request, place: tuple[BlockPlace, list[str]], answer: tuple[Headers, Wanted]
) -> Response:
    (top, path), (headers, asked) = place, answer
    car = await reading.car(top, path, asked)
    headers, size = [*headers, ("accept-ranges", "none")], car.size
    if request.method == "GET" and size <= _SENT_WHOLE:
        return Response(200, headers, await reading.whole(car))
    headers.append(("content-length", str(size)))
    return (
        Response(200, headers, b"") if request.method == "HEAD" else StreamedResponse(200, headers, reading.pieces(car))
    )


def _ranged(request: Request, headers: Headers, data: bytes, etag: str) -> Response:
    """Return the block, or the one requested range of it."""
    current = request.header("if-range") in {None, etag}
    try:
        found = byte_range(request.header("range") if current else None, len(data))
    except ValueError:
        refused = SnapshotRefused(RANGE_BEYOND_END)
        return failure_response(refused, ErrorForm.TEXT, [("content-range", f"bytes */{len(data)}")])
    if found is None:
        return Response(200, headers, data)
    begin, end = found
    return Response(206, [*headers, ("content-range", f"bytes {begin}-{end - 1}/{len(data)}")], data[begin:end])


def _inline(request: Request, query: Mapping[str, str], asked: Wanted, place: tuple[str, list[str], bytes]) -> Response:
    """Respond to an identity CID: the probe as a raw block, any other as a CAR file without blocks."""
    cid, path, car = place
    if path:
        raise SnapshotRefused(PATH_NOT_FOUND)
    headers = _headers(request, query, asked, (cid, path))
    if is_known(request.header("if-none-match"), asked.etag(cid, "")):
        return Response(304, headers, b"")
    return Response(200, headers, b"" if asked.form is Form.RAW else car)


def _headers(request: Request, query: Mapping[str, str], asked: Wanted, place: tuple[str, list[str]]) -> Headers:
    cid, path = place
    whole = _FOLDER + "/".join([cid, *path])
    headers: Headers = [
        ("content-type", asked.media),
        _FOR_EVER,
        ("etag", asked.etag(cid, "/".join(path))),
        ("content-disposition", asked.disposition(cid, query.get("filename"))),
        ("x-ipfs-path", request.raw_path),
        ("x-ipfs-roots", cid),
        ("vary", "Accept"),
        *SHARED,
        *NEVER_RENDERED,
    ]
    return [*headers, ("content-location", asked.location(whole))] if asked.from_accept else headers


def _segments(request: Request) -> list[str]:
    """Return the CID and the path below it. Raises SnapshotRefused if there is no CID or the path is too long."""
    segments = request.path.removeprefix(_FOLDER).rstrip("/").split("/")
    if not segments[0] or len(segments) > _MAX_SEGMENTS:
        raise SnapshotRefused(BAD_REQUEST, "the path is /ipfs/ and a CID")
    return segments


def _canonical(cid: str) -> str:
    """Parse the CID. Raises SnapshotRefused(BAD_REQUEST)."""
    try:
        bytes_of(cid)
    except ContentError as error:
        raise SnapshotRefused(BAD_REQUEST, f"{error}: CID version 1, SHA-256, raw or dag-cbor, in base32") from None
    return cid
