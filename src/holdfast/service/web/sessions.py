"""POST /api/sessions, GET /api/sessions/check, GET /api/sessions/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import parse_channel, parse_identifier
from holdfast.rules.reserved_identifiers import RESERVED_MESSAGE
from holdfast.service.http.messages import raw_json
from holdfast.service.web.input import restore_plus_sign
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.endpoints import CHECK_SESSION, OPEN_SESSION, REGISTRATION_COUNTERS
from holdfast.wire.models import Availability, RegistrationCounters, SessionCreated

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.service import Service
    from holdfast.wire.requests import CheckSession, OpenSession

_AVAILABLE = b'{"available":true,"reason":null}'
_TAKEN = b'{"available":false,"reason":"taken"}'
_RESERVED = Availability(available=False, reason="reserved", message=RESERVED_MESSAGE)


@serves(OPEN_SESSION)
async def open_session(service: Service, asked: OpenSession, request: Request) -> SessionCreated:
    """POST /api/sessions."""
    identifier = parse_identifier(asked.identifier, parse_channel(asked.channel))
    parse_did(asked.did)
    await service.sessions.open(identifier, asked.did, service.client_address.subject(request))
    return SessionCreated(identifier=asked.identifier, channel=asked.channel, did=asked.did)


@serves(CHECK_SESSION)
async def check_session(service: Service, asked: CheckSession, _request: Request) -> Availability | Response:
    """GET /api/sessions/check."""
    channel = parse_channel(asked.channel)
    identifier = parse_identifier(restore_plus_sign(asked.identifier, channel), channel)
    if service.sessions.is_reserved(identifier):
        return _RESERVED
    return raw_json(_TAKEN if await service.store.is_claimed(channel.value, identifier.key) else _AVAILABLE)


@serves_plainly(REGISTRATION_COUNTERS)
async def session_counters(service: Service, request: Request) -> RegistrationCounters:
    """GET /api/sessions/status."""
    mine, total = await service.store.registrations(service.client_address.subject(request))
    limit = service.limits.max_registrations_per_ip
    return RegistrationCounters(ip_registrations=mine, ip_limit=limit, total_registrations=total)
