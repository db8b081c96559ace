"""POST /api/verify/send, POST /api/verify/check, GET /api/verify/status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.identifiers import parse_identifier, parse_verify_channel
from holdfast.rules.one_time_codes import CodeFailure
from holdfast.service.http.messages import json_response
from holdfast.service.web.idempotency import repeated_check, stored_response
from holdfast.service.web.input import restore_plus_sign
from holdfast.service.web.serving import serves
from holdfast.wire.encoding import to_iso
from holdfast.wire.endpoints import CHECK_CODE, SEND_CODE, VERIFICATION_STATUS
from holdfast.wire.errors import SMS_CHECK_FAILED, Refused
from holdfast.wire.models import CheckFailed, CodeAccepted, CodeRefused, CodeSent, VerificationStatus

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import CheckCode, ReadVerification, SendCode


@serves(SEND_CODE)
async def send_code(web: WebContext, fields: SendCode, request: Request) -> CodeSent:
    """POST /api/verify/send."""
    identifier = parse_identifier(fields.identifier, parse_verify_channel(fields.channel, web.channels))
    answer = CodeSent(channel=fields.channel)
    await web.service.verification.send(identifier, web.subject(request), stored_response(request, answer))
    return answer


@serves(CHECK_CODE)
async def check_code(web: WebContext, fields: CheckCode, request: Request) -> CodeAccepted | CodeRefused | Response:
    """POST /api/verify/check."""
    identifier = parse_identifier(fields.identifier, parse_verify_channel(fields.channel, web.channels))
    repeat = repeated_check(request, lambda attestation: CodeAccepted(attestation=attestation))
    try:
        result = await web.service.verification.check(identifier, fields.code, web.subject(request), repeat)
    except Refused as refused:
        if refused.row is SMS_CHECK_FAILED:
            return json_response(CheckFailed(error=SMS_CHECK_FAILED.error), SMS_CHECK_FAILED.status)
        raise
    if isinstance(result, CodeFailure):
        return CodeRefused(message=result.value)
    return CodeAccepted(attestation=result)


@serves(VERIFICATION_STATUS)
async def verification_status(web: WebContext, fields: ReadVerification, _request: Request) -> VerificationStatus:
    """GET /api/verify/status."""
    channel = parse_verify_channel(fields.channel, web.channels)
    identifier = parse_identifier(restore_plus_sign(fields.identifier, channel), channel)
    at = await web.service.verification.verified_at(identifier)
    return VerificationStatus(
        identifier=identifier.given,
        channel=channel,
        verified=at is not None,
        verified_at=None if at is None else to_iso(at),
    )
