"""POST /api/sessions, GET /api/sessions/check, GET /api/sessions/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import parse_channel, parse_identifier
from holdfast.rules.reserved_identifiers import RESERVED_MESSAGE
from holdfast.service.http.messages import json_response, raw_json
from holdfast.service.web.context import INVITATION
from holdfast.service.web.idempotency import stored_response
from holdfast.service.web.input import restore_plus_sign
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.endpoints import CHECK_SESSION, OPEN_SESSION, REGISTRATION_COUNTERS
from holdfast.wire.errors import IDENTIFIER_RESERVED
from holdfast.wire.models import Availability, SessionCreated

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext
    from holdfast.wire.models import RegistrationCounters
    from holdfast.wire.requests import CheckSession, OpenSession

_AVAILABLE = raw_json(b'{"available":true,"reason":null}')
_TAKEN = raw_json(b'{"available":false,"reason":"taken"}')
_RESERVED = json_response(Availability(available=False, reason="reserved", message=RESERVED_MESSAGE))


@serves(OPEN_SESSION)
async def open_session(web: WebContext, fields: OpenSession, request: Request) -> SessionCreated:
    """POST /api/sessions."""
    identifier = parse_identifier(fields.identifier, parse_channel(fields.channel, web.channels))
    parse_did(fields.did)
    answer = SessionCreated(identifier=fields.identifier, channel=fields.channel, did=fields.did)
    ip, network = web.subjects(request)
    response = stored_response(request, answer)
    await web.service.sessions.open(identifier, fields.did, ip, response, request.header(INVITATION), network)
    return answer


@serves(CHECK_SESSION)
async def check_session(web: WebContext, fields: CheckSession, _request: Request) -> Response:
    """GET /api/sessions/check."""
    channel = parse_channel(fields.channel, web.channels)
    identifier = parse_identifier(restore_plus_sign(fields.identifier, channel), channel)
    row = await web.service.sessions.unavailable(identifier)
    if row is IDENTIFIER_RESERVED:
        return _RESERVED
    return _AVAILABLE if row is None else _TAKEN


@serves_plainly(REGISTRATION_COUNTERS)
async def session_counters(web: WebContext, request: Request) -> RegistrationCounters:
    """GET /api/sessions/status."""
    return await web.service.sessions.counters(web.subject(request))
