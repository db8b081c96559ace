"""/pins and /pins/{requestid}: the IPFS Pinning Service API 1.0.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast.rules.pins import Pin, checked_pin, moment_text, pin_query
from holdfast.service.http.messages import Response, json_response
from holdfast.service.web.failures import SHARED
from holdfast.service.web.serving import serves_bearer, serves_plainly
from holdfast.wire.endpoints import ADD_PIN, GET_PIN, LIST_PINS, REMOVE_PIN, REPLACE_PIN
from holdfast.wire.pinning import PinnedObject, PinReport, PinResults

if TYPE_CHECKING:
    from holdfast.rules.snapshot_tokens import Bearer
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import ListPins, PinSnapshot

_ACCEPTED = 202
_FOLDER = "/pins/"


async def _bearer(web: WebContext, request: Request) -> Bearer:
    return await web.snapshots.access.bearer(request.header("authorization"), web.subject(request))


async def _owner(web: WebContext, request: Request) -> Bearer:
    """Return the DID whose own pins are listed or removed, even if its registration has ended."""
    subject = web.subject(request)
    web.snapshots.reads.count(subject)
    return await web.snapshots.access.bearer(request.header("authorization"), subject, registered=False)


@serves_bearer(LIST_PINS, _owner)
async def list_pins(web: WebContext, bearer: Bearer, fields: ListPins, _request: Request) -> PinResults:
    """GET /pins."""
    count, pins = await web.snapshots.pins.listed(bearer, pin_query(fields))
    return PinResults(count=count, results=[_report(web, pin) for pin in pins])


@serves_bearer(ADD_PIN, _bearer)
async def add_pin(web: WebContext, bearer: Bearer, fields: PinSnapshot, request: Request) -> Response:
    """POST /pins."""
    return await _added(web, bearer, fields, request)


@serves_plainly(GET_PIN)
async def get_pin(web: WebContext, request: Request) -> PinReport:
    """GET /pins/{requestid}."""
    return _report(web, await web.snapshots.pins.one(await _owner(web, request), _request_id(request)))


@serves_bearer(REPLACE_PIN, _bearer)
async def replace_pin(web: WebContext, bearer: Bearer, fields: PinSnapshot, request: Request) -> Response:
    """POST /pins/{requestid}."""
    return await _added(web, bearer, fields, request, replaces=_request_id(request))


@serves_plainly(REMOVE_PIN)
async def remove_pin(web: WebContext, request: Request) -> Response:
    """DELETE /pins/{requestid}."""
    await web.snapshots.pins.remove(await _owner(web, request), _request_id(request))
    return Response(_ACCEPTED, [("cache-control", "no-store"), *SHARED], b"")


async def _added(
    web: WebContext, bearer: Bearer, fields: PinSnapshot, request: Request, replaces: str | None = None
) -> Response:
    checked = checked_pin(fields)
    await web.snapshots.access.count(web.subject(request))
    return json_response(_report(web, await web.snapshots.pins.add(bearer, checked, replaces)), _ACCEPTED)


def _request_id(request: Request) -> str:
    return request.path.partition(_FOLDER)[2]


def _report(web: WebContext, pin: Pin) -> PinReport:
    fields = pin.request
    shown = PinnedObject(
        cid=fields.cid,
        name=UNSET if fields.name is None else fields.name,
        origins=list(fields.origins) or UNSET,
        meta=dict(fields.meta) or UNSET,
    )
    return PinReport(
        requestid=pin.request_id,
        status=pin.state.value,
        created=moment_text(pin.created_us),
        pin=shown,
        delegates=[web.snapshots.delegate],
        info=dict(pin.info) or UNSET,
    )
