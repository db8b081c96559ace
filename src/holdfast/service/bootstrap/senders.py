"""Chooses the providers of mail and SMS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.webhooks import parse_secrets
from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.mail.choice import mailer_of
from holdfast.service.sms.choice import sms_verifier_of

if TYPE_CHECKING:
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.mail.port import Mailer
    from holdfast.service.settings.values import Settings
    from holdfast.service.sms.port import SmsSender, SmsVerifier
    from holdfast.service.upstreams.pool import ConnectionPools

OUTBOX = "outbox"  # a folder in the data folder


def configured_mailer(settings: Settings, pools: ConnectionPools) -> Mailer:
    """Return the mail provider that HOLDFAST_MAIL_URL names. Raises SettingError."""
    return named_setting(
        "HOLDFAST_MAIL_URL",
        mailer_of,
        settings.mail_url,
        settings.mail_from,
        pools.of("mail"),
        settings.data_dir / OUTBOX,
        settings.public_host,
        webhook_keys(settings),
        settings.public_url,
    )


def configured_sms(
    settings: Settings, pools: ConnectionPools, clock: Clock, entropy: Entropy
) -> SmsVerifier | SmsSender:
    """Return the SMS provider that HOLDFAST_SMS_URL names. Raises SettingError."""
    outbox = settings.data_dir / OUTBOX
    return named_setting(
        "HOLDFAST_SMS_URL",
        sms_verifier_of,
        settings.sms_url,
        pools.of("sms"),
        outbox,
        clock,
        entropy,
        settings.public_host,
        webhook_keys(settings),
    )


def webhook_keys(settings: Settings) -> tuple[bytes, ...]:
    """Return the secrets that sign webhooks; the settings were checked when they were read."""
    return parse_secrets(settings.webhook_secret) if settings.webhook_secret else ()
