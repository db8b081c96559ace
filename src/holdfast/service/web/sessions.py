"""POST /api/sessions, GET /api/sessions/check, GET /api/sessions/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import Channel, parse_channel, parse_identifier
from holdfast.rules.reserved_identifiers import RESERVED_MESSAGE
from holdfast.service.web.http import json_response, raw_json
from holdfast.service.web.input import json_object, meant_plus, query_values, require, text_field
from holdfast.wire.errors import MISSING_IDENTIFIER_PARAMETER, MISSING_SESSION_FIELDS
from holdfast.wire.models import Availability, RegistrationCounters, SessionCreated

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response

_AVAILABLE = b'{"available":true,"reason":null}'
_TAKEN = b'{"available":false,"reason":"taken"}'
_RESERVED = Availability(available=False, reason="reserved", message=RESERVED_MESSAGE)


async def open_session(service: Service, request: Request) -> Response:
    """POST /api/sessions."""
    fields = await json_object(request)
    named, handle = text_field(fields, "identifier"), text_field(fields, "handle")
    channel_text = text_field(fields, "channel")
    if channel_text is None and named is None and handle is not None:
        channel_text = Channel.HANDLE
    given, channel_text, did = require(MISSING_SESSION_FIELDS, named or handle, channel_text, text_field(fields, "did"))
    identifier = parse_identifier(given, parse_channel(channel_text))
    parse_did(did)
    await service.sessions.open(identifier, did, service.client_address.subject(request))
    return json_response(SessionCreated(identifier=given, channel=channel_text, did=did))


async def check_session(service: Service, request: Request) -> Response:
    """GET /api/sessions/check."""
    values = query_values(request.query)
    given = values.get("identifier") or values.get("handle")
    (given,) = require(MISSING_IDENTIFIER_PARAMETER, given)
    channel = parse_channel(values.get("channel", Channel.HANDLE))
    identifier = parse_identifier(meant_plus(given, channel), channel)
    if service.sessions.is_reserved(identifier):
        return json_response(_RESERVED)
    return raw_json(_TAKEN if await service.store.is_claimed(channel.value, identifier.key) else _AVAILABLE)


async def session_counters(service: Service, request: Request) -> Response:
    """GET /api/sessions/status."""
    mine, total = await service.store.registrations(service.client_address.subject(request))
    limit = service.limits.max_registrations_per_ip
    return json_response(RegistrationCounters(ip_registrations=mine, ip_limit=limit, total_registrations=total))
