"""POST /api/v0/dag/import, POST /api/snapshots/revocations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.service.http.messages import Response, json_response
from holdfast.service.http.multipart import NotOneFile, boundary_of
from holdfast.service.web.failures import SHARED
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.endpoints import IMPORT_SNAPSHOT, REVOKE_TOKENS
from holdfast.wire.failures import BAD_REQUEST, UNSUPPORTED_MEDIA, SnapshotRefused
from holdfast.wire.pinning import ImportedLine, ImportedRoot, ImportStats, Revoked, StatsLine

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.operations.snapshot_uploads import Imported
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import ImportSnapshot


@serves(IMPORT_SNAPSHOT)
async def import_snapshot(web: WebContext, fields: ImportSnapshot, request: Request) -> Response:
    """POST /api/v0/dag/import."""
    snapshots = web.snapshots
    subject = web.subject(request)
    bearer = await snapshots.access.bearer(request.header("authorization"), subject)
    boundary = _boundary(request)
    await snapshots.access.count(subject)
    pin = fields.pin_roots != "false"
    done = await snapshots.uploads.take(bearer, boundary, request.pieces(), _declared(request), pin=pin)
    lines = _lines(done, stats=fields.stats == "true")
    return Response(200, [("content-type", "application/json"), ("cache-control", "no-store"), *SHARED], lines)


@serves_plainly(REVOKE_TOKENS)
async def revoke_tokens(web: WebContext, request: Request) -> Response:
    """POST /api/snapshots/revocations."""
    revoked = await web.snapshots.access.revoke(request.header("authorization"), web.subject(request))
    return json_response(Revoked(revoked=True, cid=revoked))


def _boundary(request: Request) -> bytes:
    """Return the multipart body's boundary. Raises SnapshotRefused."""
    if (request.header("content-encoding") or "identity").strip().lower() != "identity":
        raise SnapshotRefused(UNSUPPORTED_MEDIA, "the body must not be compressed")
    content_type = request.header("content-type") or ""
    if content_type.partition(";")[0].strip().lower() != "multipart/form-data":
        raise SnapshotRefused(UNSUPPORTED_MEDIA, "send one CAR file as multipart/form-data")
    try:
        return boundary_of(content_type)
    except NotOneFile as error:
        raise SnapshotRefused(BAD_REQUEST, str(error)) from None


def _declared(request: Request) -> int | None:
    text = request.header("content-length") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None  # noqa: PLR2004 - digits that fit


def _lines(done: Imported, *, stats: bool) -> bytes:
    """Return the result of an import as newline-delimited JSON, in Kubo's format."""
    lines: list[ImportedLine | StatsLine] = [ImportedLine(root=ImportedRoot(cid={"/": done.root}))]
    if stats:
        lines.append(StatsLine(stats=ImportStats(blocks=done.blocks, block_bytes=done.block_bytes)))
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
