"""GET and HEAD /ipfs/{cid}: the trustless gateway, which serves only blocks and CAR files.

It serves what strangers choose, from the origin on which people use passkeys, so it returns only sandboxed attachments.
Errors are not cached, because an upload may follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.content.cids import bytes_of
from holdfast.content.errors import ContentError
from holdfast.rules.gateway import Form, byte_range, identity_car
from holdfast.rules.header_lists import is_known
from holdfast.service.http.large_responses import LaterResponse, largest_at_once
from holdfast.service.http.messages import Headers, Response, StreamedResponse
from holdfast.service.web.failures import failure_response
from holdfast.service.web.gateway_questions import FOLDER, question_of
from holdfast.service.web.serving import serves
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
    from collections.abc import Awaitable, Callable

    from holdfast.service.http.messages import Request
    from holdfast.service.operations.snapshot_reading import Bytes, Car, SnapshotReading
    from holdfast.service.store.snapshot_index import BlockLocation
    from holdfast.service.web.context import WebContext
    from holdfast.service.web.gateway_questions import Question
    from holdfast.wire.requests import ReadBlock

_MAX_SEGMENTS = 16
_MAX_PATH_CHARACTERS = 1024
_SENT_WHOLE = 1024 * 1024  # a file up to this size costs less in one piece, and a lost block is then a plain 404
# The identity CID of the empty block, which clients request to probe a gateway (Trustless Gateway, Probe).
PROBE = "bafkqaaa"


@serves(IPFS)
async def ipfs(web: WebContext, fields: ReadBlock, request: Request) -> Response:
    """GET /ipfs/{cid} and the paths below it."""
    web.snapshots.reads.count(web.subject(request))
    if request.header("service-worker") == "script":
        raise SnapshotRefused(BAD_REQUEST, "a service worker is not given out here")
    cid, *path = _segments(request)
    question = question_of(fields, request)
    form = question.wanted.form
    if form is Form.RECORD:
        raise SnapshotRefused(NOT_ACCEPTABLE)
    if form is Form.RAW and path:
        raise SnapshotRefused(NOT_ACCEPTABLE, "a raw block is given out by its own CID, without a path")
    inline = identity_car(cid)
    if inline is not None and (cid == PROBE or form is Form.CAR):
        return _inline(request, question, (cid, path, inline))
    return await _found(web.snapshots.reading, request, (_canonical(cid), path), question)


async def _found(
    reading: SnapshotReading, request: Request, target: tuple[str, list[str]], question: Question
) -> Response:
    cid, path = target
    is_raw = question.wanted.form is Form.RAW
    try:
        dag = (await reading.location(cid),) if is_raw else await reading.dag(cid)
    except SnapshotRefused as refused:
        if refused.row is BLOCK_NOT_FOUND and "only-if-cached" in (request.header("cache-control") or ""):
            raise SnapshotRefused(NOT_CACHED) from None
        raise
    headers = question.headers(request, cid, "/".join(path))
    known = request.header("if-none-match")
    if known is not None and is_known(known, question.etag(cid, "/".join(path))):
        return Response(304, headers, b"")
    if is_raw:
        headers.append(("accept-ranges", "bytes"))
        return await _read(request, dag[0].size, lambda: _block(reading, request, headers, dag[0], question.etag(cid)))
    return await _car(reading, request, await reading.car(dag, path, question.wanted), headers)


async def _car(reading: SnapshotReading, request: Request, car: Car, headers: Headers) -> Response:
    headers.append(("accept-ranges", "none"))
    if request.method == "GET" and car.size <= _SENT_WHOLE:
        return await _read(request, car.size, lambda: _whole(reading, car, headers))
    if request.method == "HEAD":
        return Response(200, [*headers, ("content-length", str(car.size))], b"")
    return StreamedResponse(200, headers, reading.pieces(car), car.size)


async def _read(request: Request, size: int, read: Callable[[], Awaitable[Response]]) -> Response:
    """Return what `read` returns, or if that is large, a response that is read when it is about to be sent."""
    if request.method == "GET" and size > largest_at_once(request.version):
        return LaterResponse(size, read)
    return await read()


async def _whole(reading: SnapshotReading, car: Car, headers: Headers) -> Response:
    return Response(200, headers, await reading.whole(car))


async def _block(
    reading: SnapshotReading, request: Request, headers: Headers, location: BlockLocation, etag: str
) -> Response:
    return _ranged(request, headers, await reading.block(location), etag)


def _ranged(request: Request, headers: Headers, data: Bytes, etag: str) -> Response:
    """Return the block, or the requested range of its bytes."""
    given = request.header("range") if request.method == "GET" else None  # RFC 9110, section 14.2
    if given is None or request.header("if-range") not in {None, etag}:
        return Response(200, headers, data)
    try:
        found = byte_range(given, len(data))
    except ValueError:
        refused = SnapshotRefused(RANGE_BEYOND_END)
        return failure_response(refused, ErrorForm.TEXT, [("content-range", f"bytes */{len(data)}")])
    if found is None:
        return Response(200, headers, data)
    begin, end = found
    return Response(206, [*headers, ("content-range", f"bytes {begin}-{end - 1}/{len(data)}")], data[begin:end])


def _inline(request: Request, question: Question, target: tuple[str, list[str], bytes]) -> Response:
    """Respond to an identity CID with a raw block if the probe requests one, else with a CAR file without blocks."""
    cid, path, car = target
    if path:
        raise SnapshotRefused(PATH_NOT_FOUND)
    headers = question.headers(request, cid)
    if is_known(request.header("if-none-match"), question.etag(cid)):
        return Response(304, headers, b"")
    return Response(200, headers, b"" if question.wanted.form is Form.RAW else car)


def _segments(request: Request) -> list[str]:
    """Return the CID and the path below it. Raises SnapshotRefused if there is no CID or the path is too long."""
    segments = request.path.removeprefix(FOLDER).rstrip("/").split("/", _MAX_SEGMENTS)
    if not segments[0] or len(segments) > _MAX_SEGMENTS or len(request.path) > _MAX_PATH_CHARACTERS:
        raise SnapshotRefused(BAD_REQUEST, "the path is /ipfs/ and a CID")
    return segments


def _canonical(cid: str) -> str:
    """Return the CID in canonical form. Raises SnapshotRefused(BAD_REQUEST)."""
    try:
        bytes_of(cid)
    except ContentError as error:
        raise SnapshotRefused(BAD_REQUEST, f"{error}: CID version 1, SHA-256, raw or dag-cbor, in base32") from None
    return cid
