"""/pins and /pins/{requestid}: the IPFS Pinning Service API 1.0.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast.rules.limits import MAX_BODY_BYTES
from holdfast.rules.pins import Pin, asked_pin, moment_text, pin_query
from holdfast.service.http.messages import Response, json_response
from holdfast.service.web.failures import SHARED
from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import ADD_PIN, GET_PIN, LIST_PINS, REMOVE_PIN, REPLACE_PIN
from holdfast.wire.pinning import PinnedObject, PinReport, PinResults

if TYPE_CHECKING:
    from holdfast.rules.snapshot_tokens import Bearer
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext

_ACCEPTED = 202
_FOLDER = "/pins/"


@serves_plainly(LIST_PINS)
async def list_pins(web: WebContext, request: Request) -> PinResults:
    """GET /pins."""
    web.snapshots.reads.count(web.subject(request))
    bearer = await _owner(web, request)
    count, pins = await web.snapshots.pins.listed(bearer, pin_query(request.query))
    return PinResults(count=count, results=[_report(web, pin) for pin in pins])


@serves_plainly(ADD_PIN)
async def add_pin(web: WebContext, request: Request) -> Response:
    """POST /pins."""
    return await _added(web, request, None)


@serves_plainly(GET_PIN)
async def get_pin(web: WebContext, request: Request) -> PinReport:
    """GET /pins/{requestid}."""
    web.snapshots.reads.count(web.subject(request))
    bearer = await _owner(web, request)
    return _report(web, await web.snapshots.pins.one(bearer, _request_id(request)))


@serves_plainly(REPLACE_PIN)
async def replace_pin(web: WebContext, request: Request) -> Response:
    """POST /pins/{requestid}."""
    return await _added(web, request, _request_id(request))


@serves_plainly(REMOVE_PIN)
async def remove_pin(web: WebContext, request: Request) -> Response:
    """DELETE /pins/{requestid}."""
    web.snapshots.reads.count(web.subject(request))
    await web.snapshots.pins.remove(await _owner(web, request), _request_id(request))
    return Response(_ACCEPTED, [("cache-control", "no-store"), *SHARED], b"")


async def _added(web: WebContext, request: Request, replaces: str | None) -> Response:
    bearer = await _bearer(web, request)
    asked = asked_pin(await request.body(MAX_BODY_BYTES))
    await web.snapshots.access.count(web.subject(request))
    pin = await web.snapshots.pins.add(bearer, asked, replaces)
    return json_response(_report(web, pin), _ACCEPTED)


async def _bearer(web: WebContext, request: Request) -> Bearer:
    return await web.snapshots.access.bearer(request.header("authorization"), web.subject(request))


async def _owner(web: WebContext, request: Request) -> Bearer:
    """Return the DID whose own pins are listed or removed, even if its registration has ended."""
    return await web.snapshots.access.bearer(request.header("authorization"), web.subject(request), registered=False)


def _request_id(request: Request) -> str:
    return request.path.partition(_FOLDER)[2]


def _report(web: WebContext, pin: Pin) -> PinReport:
    asked = pin.asked
    shown = PinnedObject(
        cid=asked.cid,
        name=UNSET if asked.name is None else asked.name,
        origins=list(asked.origins) or UNSET,
        meta=dict(asked.meta) or UNSET,
    )
    return PinReport(
        requestid=pin.request_id,
        status=pin.state.value,
        created=moment_text(pin.created_us),
        pin=shown,
        delegates=[web.snapshots.delegate],
        info=dict(pin.info) or UNSET,
    )
