"""GET /ipns/{name}, GET and PUT /routing/v1/ipns/{name}: IPNS records, but not the content to which they point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.content.records import MAX_RECORD_BYTES
from holdfast.rules.dids import parse_credential_id
from holdfast.rules.gateway import Form, attachment, wanted
from holdfast.rules.header_lists import is_known
from holdfast.service.http.messages import Headers, Response
from holdfast.service.http.static import etag_of
from holdfast.service.operations.snapshot_names import canonical_name
from holdfast.service.web.failures import NEVER_RENDERED, SHARED
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.endpoints import IPNS, NAME_OF_SNAPSHOTS, PUBLISH_NAME, ROUTED_NAME
from holdfast.wire.failures import BAD_REQUEST, NOT_ACCEPTABLE, SnapshotRefused
from holdfast.wire.models import DidNotFound, SnapshotName
from holdfast.wire.requests import ReadBlock

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import NameOfSnapshots, ReadRecord

_GATEWAY, _ROUTING = "/ipns/", "/routing/v1/ipns/"
_ONLY_RECORDS = "only IPNS records are given out here: format=ipns-record, or Accept: " + Form.RECORD.value


@serves(NAME_OF_SNAPSHOTS)
async def name_of_snapshots(web: WebContext, fields: NameOfSnapshots, request: Request) -> SnapshotName | DidNotFound:
    """GET /api/snapshots/name."""
    web.count(web.snapshots.reads, request)
    # In a query string "+" decodes to a space. Base64 has no spaces, so a plus sign was meant.
    record = await web.service.dids.look_up(parse_credential_id(fields.credential_id.replace(" ", "+")))
    name = None if record is None else await web.snapshots.name_of(record.did)
    return DidNotFound() if name is None else SnapshotName(name=name)


@serves(IPNS)
async def ipns(web: WebContext, fields: ReadRecord, request: Request) -> Response:
    """GET /ipns/{name}."""
    name = request.path.removeprefix(_GATEWAY)
    if "/" in name:
        raise SnapshotRefused(BAD_REQUEST, "the record of a name has no path below it")
    if wanted(ReadBlock(format=fields.format), request.header("accept")).form is not Form.RECORD:
        raise SnapshotRefused(NOT_ACCEPTABLE, _ONLY_RECORDS)
    return await _record(web, request, name, fields.filename)


@serves_plainly(ROUTED_NAME)
async def routed_name(web: WebContext, request: Request) -> Response:
    """GET /routing/v1/ipns/{name}."""
    accept = request.header("accept") or "*/*"
    if not any(kind in accept for kind in (Form.RECORD.value, "*/*", "application/*")):
        raise SnapshotRefused(NOT_ACCEPTABLE, _ONLY_RECORDS)
    return await _record(web, request, request.path.removeprefix(_ROUTING), None)


@serves_plainly(PUBLISH_NAME)
async def publish_name(web: WebContext, request: Request) -> Response:
    """PUT /routing/v1/ipns/{name}."""
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind != Form.RECORD.value:
        raise SnapshotRefused(NOT_ACCEPTABLE, f"send the record as {Form.RECORD.value}")
    name = canonical_name(request.path.removeprefix(_ROUTING))
    data = await request.body(MAX_RECORD_BYTES)
    await web.snapshots.access.count(web.subject(request))
    await web.snapshots.names.publish(name, data)
    return Response(200, [("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store"), *SHARED], b"")


async def _record(web: WebContext, request: Request, name: str, filename: str | None) -> Response:
    web.snapshots.reads.count(web.subject(request))
    name = canonical_name(name)
    record = await web.snapshots.names.record(name)
    left = web.snapshots.names.seconds_left(record)
    etag = etag_of(record.data)
    headers: Headers = [
        ("content-type", Form.RECORD.value),
        ("cache-control", f"public, max-age={left}" if left else "no-store"),
        ("etag", etag),
        ("content-disposition", attachment(filename or "", f"{name}.ipns-record")),
        ("x-ipfs-path", f"{_GATEWAY}{name}"),
        ("vary", "Accept"),
        *SHARED,
        *NEVER_RENDERED,
    ]
    if is_known(request.header("if-none-match"), etag):
        return Response(304, headers, b"")
    return Response(200, headers, record.data)
