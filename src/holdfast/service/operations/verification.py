"""Verification of e-mail addresses and phone numbers by one-time codes (decisions, section 6)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.attestations import issue_at
from holdfast.rules.identifiers import Channel
from holdfast.rules.one_time_codes import CodeFailure, code_digest, draw_code, judge
from holdfast.rules.quotas import SendFacts, admit_send
from holdfast.service.ports import DeliveryError, NewSend
from holdfast.wire.errors import EMAIL_SEND_FAILED, SMS_CHECK_FAILED, SMS_SEND_FAILED, Refused

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Limits
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.ports import Mailer, SmsVerifier, Store
    from holdfast.service.secrets import Secrets
    from holdfast.wire.models import Attestation

_log = logging.getLogger("holdfast.verification")


@dataclass(frozen=True, slots=True)
class Verification:
    """Sends codes and judges them."""

    store: Store
    mailer: Mailer
    sms: SmsVerifier
    secrets: Secrets
    registrar: str
    limits: Limits
    clock: Clock
    entropy: Entropy

    async def send(self, identifier: Identifier, ip: str) -> None:
        """Have a code sent. Raises Refused: over a limit, or the provider did not take it.

        The charge on the limits is written before the provider is asked and given back when it refuses, so that
        neither parallel requests nor a crash can send more than the limits allow.
        """

        def decide(facts: SendFacts) -> None:
            admit_send(facts, self.limits)

        counted = identifier.channel is Channel.EMAIL
        send = NewSend(identifier=identifier, counted=counted, ip=ip, now=self.clock())
        reservation = await self.store.reserve_send(send, decide)
        try:
            await self._deliver(identifier)
        except DeliveryError as error:
            _log_failure("send failed", identifier.channel, error)
            await self.store.give_back(reservation)
            raise Refused(EMAIL_SEND_FAILED if counted else SMS_SEND_FAILED) from None
        except Exception:
            await self.store.give_back(reservation)
            raise

    async def _deliver(self, identifier: Identifier) -> None:
        # Codes go to the canonical key: what is verified must be exactly where the code arrived.
        if identifier.channel is Channel.SMS:
            await self.sms.start(identifier.key)
            return
        code = draw_code(self.entropy)
        lifetime_s = self.limits.email_code_expiry_seconds
        await self.mailer.send_code(identifier.key, code, lifetime_s)
        accepted_at = self.clock()
        digest = code_digest(self.secrets.code_keys[0], identifier, code)
        await self.store.keep_code(identifier, digest, accepted_at, accepted_at + lifetime_s)

    async def check(self, identifier: Identifier, code: str) -> Attestation | CodeFailure:
        """The attestation for a right code, or why it is none. Raises Refused when the SMS provider fails."""
        of_channel = self._check_sms if identifier.channel is Channel.SMS else self._check_email
        outcome = await of_channel(identifier, code)
        if isinstance(outcome, CodeFailure):
            return outcome
        # The instant that was written: GET /api/verify/status must tell the same one.
        key, ttl_s = self.secrets.signing_keys[0], self.limits.attestation_ttl_seconds
        return issue_at(identifier, self.registrar, key, outcome, ttl_s)

    async def _check_email(self, identifier: Identifier, code: str) -> float | CodeFailure:
        """When the identifier was verified, in seconds since the epoch, or why it was not."""
        now = self.clock()
        attempt = await self.store.count_attempt(identifier, now, self.limits.max_verify_attempts)
        failure = judge(attempt, identifier, code, self.secrets.code_keys, now, self.limits)
        if failure is not None:
            return failure
        if attempt is None or not await self.store.consume_code(identifier, attempt.code_id, now):
            return CodeFailure.NO_CODE
        return now

    async def _check_sms(self, identifier: Identifier, code: str) -> float | CodeFailure:
        """As `_check_email`, by the provider's word and as of its answer. Raises Refused when it gives none."""
        try:
            right = await self.sms.check_code(identifier.key, code)
        except DeliveryError as error:
            _log_failure("check failed", identifier.channel, error)
            raise Refused(SMS_CHECK_FAILED) from None
        if not right:
            return CodeFailure.INCORRECT
        now = self.clock()
        await self.store.mark_verified(identifier, now)
        return now

    async def verified_at(self, identifier: Identifier) -> float | None:
        """When the identifier was verified last, in seconds since the epoch."""
        return await self.store.verified_at(identifier)


def _log_failure(event: str, channel: Channel, error: DeliveryError) -> None:
    """One line; `why` names the step that failed, which a DeliveryError tells without recipient, code or key."""
    _log.warning(event, extra={"channel": channel.value, "kind": error.kind, "why": str(error)})
