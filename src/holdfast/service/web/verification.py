"""POST /api/verify/send, POST /api/verify/check, GET /api/verify/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.identifiers import parse_identifier, parse_verify_channel
from holdfast.rules.one_time_codes import CodeFailure
from holdfast.service.web.http import json_response
from holdfast.service.web.input import json_object, meant_plus, query_values, require, text_field
from holdfast.wire.encoding import to_iso
from holdfast.wire.errors import (
    MISSING_CHECK_FIELDS,
    MISSING_SEND_FIELDS,
    MISSING_STATUS_PARAMETERS,
    SMS_CHECK_FAILED,
    Refused,
)
from holdfast.wire.models import CheckFailed, CodeAccepted, CodeRefused, CodeSent, VerificationStatus

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response


async def send_code(service: Service, request: Request) -> Response:
    """POST /api/verify/send."""
    fields = await json_object(request)
    given, channel = require(MISSING_SEND_FIELDS, text_field(fields, "identifier"), text_field(fields, "channel"))
    identifier = parse_identifier(given, parse_verify_channel(channel))
    await service.verification.send(identifier, service.client_address.subject(request))
    return json_response(CodeSent(channel=channel))


async def check_code(service: Service, request: Request) -> Response:
    """POST /api/verify/check."""
    fields = await json_object(request)
    given, channel, code = require(
        MISSING_CHECK_FIELDS, *(text_field(fields, name) for name in ("identifier", "channel", "code"))
    )
    identifier = parse_identifier(given, parse_verify_channel(channel))
    try:
        result = await service.verification.check(identifier, code, service.client_address.subject(request))
    except Refused as refused:
        if refused.row is SMS_CHECK_FAILED:
            return json_response(CheckFailed(error=SMS_CHECK_FAILED.error), SMS_CHECK_FAILED.status)
        raise
    if isinstance(result, CodeFailure):
        return json_response(CodeRefused(message=result.value))
    return json_response(CodeAccepted(attestation=result))


async def verification_status(service: Service, request: Request) -> Response:
    """GET /api/verify/status."""
    values = query_values(request.query)
    given, channel_text = require(MISSING_STATUS_PARAMETERS, values.get("identifier"), values.get("channel"))
    channel = parse_verify_channel(channel_text)
    identifier = parse_identifier(meant_plus(given, channel), channel)
    at = await service.verification.verified_at(identifier)
    return json_response(
        VerificationStatus(
            identifier=identifier.given,
            channel=channel,
            verified=at is not None,
            verified_at=None if at is None else to_iso(at),
        )
    )
