"""GET /api/recovery, POST /api/recovery/send, /check, /sign and /stop: the service as a guardian of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import abi
from holdfast.rules.identifiers import parse_identifier, parse_verify_channel
from holdfast.rules.one_time_codes import CodeFailure
from holdfast.rules.recovery import parse_new_owners
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.encoding import to_hex, to_iso
from holdfast.wire.endpoints import ASK_RECOVERY, CHECK_RECOVERY, RECOVERY_TERMS, SIGN_RECOVERY, STOP_RECOVERY
from holdfast.wire.models import (
    CodeRefused,
    RecoveryCodeSent,
    RecoveryConfirmed,
    RecoverySigned,
    RecoveryStopped,
    RecoveryTerms,
)

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import AskRecovery, CheckRecovery, SignRecovery, StopRecovery


@serves_plainly(RECOVERY_TERMS)
async def terms(web: WebContext, _request: Request) -> RecoveryTerms:
    """GET /api/recovery."""
    guarding = web.service.guarding
    keys = [to_hex(key.signer) for key in guarding.keys]
    channels = [channel.value for channel in guarding.channels() if channel in web.channels]
    return RecoveryTerms(
        guardian=keys[0] if keys else None, guardians=keys, wait_seconds=guarding.wait_s, channels=channels
    )


@serves(ASK_RECOVERY)
async def ask(web: WebContext, fields: AskRecovery, request: Request) -> RecoveryCodeSent:
    """POST /api/recovery/send."""
    identifier = parse_identifier(fields.identifier, parse_verify_channel(fields.channel, web.channels))
    account = None if fields.account is None else abi.parse_address(fields.account)
    owners = parse_new_owners(fields.new_owners)
    web.count(web.service.chain_reads, request)
    number = await web.service.guarding.ask(identifier, account, owners, web.subject(request))
    return RecoveryCodeSent(channel=fields.channel, request=number)


@serves(CHECK_RECOVERY)
async def check(web: WebContext, fields: CheckRecovery, request: Request) -> RecoveryConfirmed | CodeRefused:
    """POST /api/recovery/check."""
    result = await web.service.guarding.check(fields.request, fields.code, web.subject(request))
    if isinstance(result, CodeFailure):
        return CodeRefused(message=result.value)
    account, ready_at = result
    return RecoveryConfirmed(account=account, ready_at=to_iso(ready_at))


@serves(SIGN_RECOVERY)
async def sign(web: WebContext, fields: SignRecovery, request: Request) -> RecoverySigned:
    """POST /api/recovery/sign."""
    account, owners = abi.parse_address(fields.account), parse_new_owners(fields.new_owners)
    web.count(web.service.chain_reads, request)
    nonce, signer, signature = await web.service.guarding.sign(account, owners)
    return RecoverySigned(nonce=nonce, signer=to_hex(signer), signature=to_hex(signature))


@serves(STOP_RECOVERY)
async def stop(web: WebContext, fields: StopRecovery, request: Request) -> RecoveryStopped:
    """POST /api/recovery/stop."""
    web.count(web.service.chain_reads, request)
    return RecoveryStopped(stopped=await web.service.guarding.stop(fields.request))
