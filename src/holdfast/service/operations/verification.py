"""Verification of e-mail addresses and phone numbers by one-time codes (decisions, section 6)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.rules.attestations import issue_at
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import SMS_ATTEMPTS_COUNTED_S, SMS_CODE_EXPIRY_S
from holdfast.rules.one_time_codes import CodeFailure, code_digest, draw_code, judge
from holdfast.rules.quotas import Counted, of_check, of_send
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.sms.port import SmsSender, SmsVerifier
from holdfast.service.store.values import NewAttempt, NewCode
from holdfast.service.telemetry import metrics
from holdfast.service.telemetry.calls import calling
from holdfast.wire.errors import EMAIL_SEND_FAILED, SMS_CHECK_FAILED, SMS_SEND_FAILED, Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Ceilings, Limits
    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.mail.port import Mailer
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import StoredResponse
    from holdfast.wire.models import Attestation

_log = logging.getLogger("holdfast.verification")
_REFUSED = frozenset({Counted.REFUSED_SENDS})
_ALL_BUT_REFUSED = frozenset(Counted) - _REFUSED


@dataclass(frozen=True, slots=True)
class RepeatedCheck:
    """A check of a code whose request has an `Idempotency-Key`.

    Attributes:
        key: its key in the store.
        attempt: the numbers of code and attempt, if an earlier try of the same request has counted one.
        accepted: makes the response to store from the attestation.
    """

    key: bytes
    attempt: tuple[int, int] | None
    accepted: Callable[[Attestation], StoredResponse]


@dataclass(frozen=True, slots=True)
class Verification:
    """Sends and checks codes."""

    store: Store
    mailer: Mailer
    sms: SmsVerifier | SmsSender
    secrets: Secrets
    registrar: str
    limits: Limits
    ceilings: Ceilings
    clock: Clock
    entropy: Entropy

    async def send(self, identifier: Identifier, ip: str, response: StoredResponse | None = None) -> None:
        """Send a code.

        Each message is counted before the provider is called, and the count is undone if the provider refuses the
        message. Because of this order, neither parallel requests nor a crash can cause the limits to be exceeded. A
        message that may have been sent stays counted. Refused messages are counted in a separate window.

        Raises:
            Refused: over a limit, a country that is not served, or the provider refused it.
        """
        await self.deliver(identifier, ip, lambda code: self._keep(identifier, code, ip, response))

    async def deliver(self, identifier: Identifier, ip: str, keep: Callable[[str | None], Awaitable[None]]) -> None:
        """Send a code as `send` does; `keep` stores it, or None if the provider has it."""
        quotas = of_send(identifier, ip, self.limits, self.ceilings)
        charge = await self.store.charge(quotas, self.clock())
        try:
            code = await self._deliver(identifier)
        except DeliveryError as error:
            _log_failure("send failed", identifier.channel, error)
            if not error.perhaps_sent:
                await self.store.give_back(charge, _ALL_BUT_REFUSED)
            elif not self.makes_codes(identifier.channel):
                await keep(None)  # the provider may accept the code
            raise Refused(SMS_SEND_FAILED if identifier.channel is Channel.SMS else EMAIL_SEND_FAILED) from None
        except Exception:
            await self.store.give_back(charge, _ALL_BUT_REFUSED)
            raise
        await keep(code)
        await self.store.give_back(charge, _REFUSED)

    async def _deliver(self, identifier: Identifier) -> str | None:
        """Send a code; return it, or None if the SMS provider keeps it."""
        # Codes are sent to the identifier's canonical form, because that is the form that is verified.
        by_sms = identifier.channel is Channel.SMS
        provider = self.sms if by_sms else self.mailer
        with calling("sms" if by_sms else "mail"):
            if isinstance(provider, SmsVerifier):
                await provider.start(identifier.key)
                return None
            code = draw_code(self.entropy)
            await provider.send_code(identifier.key, code, self.lifetime_s(identifier))
        return code

    def makes_codes(self, channel: Channel) -> bool:
        """Return whether Holdfast generates and checks the codes of this channel, and not the provider."""
        return channel is not Channel.SMS or not isinstance(self.sms, SmsVerifier)

    def lifetime_s(self, identifier: Identifier) -> int:
        """Return for how many seconds a code of Holdfast's is valid."""
        by_mail = identifier.channel is Channel.EMAIL
        return self.limits.email_code_expiry_seconds if by_mail else SMS_CODE_EXPIRY_S

    async def _keep(self, identifier: Identifier, code: str | None, ip: str, response: StoredResponse | None) -> None:
        """Store a code that was sent; of one that the provider keeps, only who requested it, to count attempts."""
        now = self.clock()
        digest = b"" if code is None else code_digest(self.secrets.code_keys[0], identifier, code)
        expires_at = now + (SMS_ATTEMPTS_COUNTED_S if code is None else self.lifetime_s(identifier))
        same_until = now + self.sms.same_code_s if code is None and isinstance(self.sms, SmsVerifier) else 0.0
        new = NewCode(
            identifier=identifier, digest=digest, ip=ip, now=now, expires_at=expires_at, same_until=same_until
        )
        await self.store.keep_code(new, response)

    async def check(
        self, identifier: Identifier, code: str, ip: str, repeat: RepeatedCheck | None = None
    ) -> Attestation | CodeFailure:
        """Return the attestation for a correct code; for any other code, the reason for refusing it.

        Raises Refused if the address is at its limit of checks, or the SMS provider fails.
        """
        by = self._check_ours if self.makes_codes(identifier.channel) else self._check_at_provider
        return await by(identifier, code, ip, repeat)

    def _attested(
        self, identifier: Identifier, now: float, repeat: RepeatedCheck | None
    ) -> tuple[Attestation, StoredResponse | None]:
        # The attestation contains the stored time, so that GET /api/verify/status returns the same time.
        key, ttl_s = self.secrets.signing_keys[0], self.limits.attestation_ttl_seconds
        attestation = issue_at(identifier, self.registrar, key, now, ttl_s)
        return attestation, repeat.accepted(attestation) if repeat else None

    async def _check_ours(
        self, identifier: Identifier, code: str, ip: str, repeat: RepeatedCheck | None
    ) -> Attestation | CodeFailure:
        now = self.clock()
        attempt = await self._attempt(identifier, ip, now, repeat)
        failure = judge(attempt, identifier, code, self.secrets.code_keys, now, self.limits)
        if failure is not None:
            _count_limit(failure)
            return failure
        attestation, response = self._attested(identifier, now, repeat)
        if attempt is None or not await self.store.consume_code(identifier, attempt.code_id, now, response):
            return CodeFailure.NO_CODE
        return attestation

    async def _attempt(
        self, identifier: Identifier, ip: str, now: float, repeat: RepeatedCheck | None
    ) -> CountedAttempt | None:
        """Count an attempt; if an earlier try of the same request has counted one, return that attempt."""
        if repeat is not None and repeat.attempt is not None:
            code, (code_id, number) = await self.store.code_of(identifier), repeat.attempt
            return replace(code, attempts=number) if code and code.code_id == code_id else None
        limit, quotas = self.limits.max_verify_attempts, of_check(ip, self.ceilings)
        key = repeat.key if repeat else None
        return await self.store.count_attempt(
            NewAttempt(identifier=identifier, ip=ip, now=now, limit=limit, quotas=quotas, repeat=key)
        )

    async def _check_at_provider(
        self, identifier: Identifier, code: str, ip: str, repeat: RepeatedCheck | None
    ) -> Attestation | CodeFailure:
        """Let the SMS provider check the code; its response sets the time of verification.

        The provider allows only a few attempts in all, to strangers too. So attempts are counted here first. Raises
        Refused if the provider does not respond.
        """
        attempt = await self._attempt(identifier, ip, self.clock(), repeat)
        if attempt is not None and attempt.attempts > self.limits.max_verify_attempts:
            _count_limit(CodeFailure.TOO_MANY_ATTEMPTS)
            return CodeFailure.TOO_MANY_ATTEMPTS
        assert isinstance(self.sms, SmsVerifier)
        try:
            with calling("sms"):
                right = await self.sms.check_code(identifier.key, code)
        except DeliveryError as error:
            _log_failure("check failed", identifier.channel, error)
            raise Refused(SMS_CHECK_FAILED) from None
        if not right:
            return CodeFailure.INCORRECT
        now = self.clock()
        attestation, response = self._attested(identifier, now, repeat)
        if attempt is None or not await self.store.consume_code(identifier, attempt.code_id, now, response):
            await self.store.mark_verified(identifier, now, response)
        return attestation

    async def verified_at(self, identifier: Identifier) -> float | None:
        """Return when the identifier was last verified, in seconds since the epoch."""
        return await self.store.verified_at(identifier)


def _count_limit(failure: CodeFailure) -> None:
    if failure is CodeFailure.TOO_MANY_ATTEMPTS:
        metrics.LIMITS_HIT.add("attempts")


def _log_failure(event: str, channel: Channel, error: DeliveryError) -> None:
    """Log one line. `why` is the failed step as in DeliveryError, without recipient, code or key."""
    _log.warning(event, extra={"channel": channel.value, "kind": error.kind, "why": str(error)})
