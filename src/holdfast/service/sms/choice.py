"""Chooses the provider for `HOLDFAST_SMS_URL`. Outbox and webhook are imported only if the setting selects them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery.schemes import SmsScheme, scheme_of
from holdfast.service.sms.twilio import SETTING, twilio_verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import aiohttp

    from holdfast.service.sms.port import SmsSender, SmsVerifier


def sms_verifier_of(
    url: str,
    http: Callable[[], aiohttp.ClientSession],
    outbox_dir: Path,
    clock: Callable[[], float],
    entropy: Callable[[int], bytes],
    host: str = "",
    webhook_keys: Sequence[bytes] = (),
) -> SmsVerifier | SmsSender:
    """Return the SMS provider that the setting selects.

    Args:
        url: value of HOLDFAST_SMS_URL.
        http: returns the pooled HTTP session; called when a message is sent.
        outbox_dir: folder of the development outbox.
        clock: seconds since the epoch, for the outbox's codes.
        entropy: returns that many random bytes, for the outbox's codes.
        host: the public host, to which Holdfast's messages bind their codes; without it they bind them to none.
        webhook_keys: the secrets in HOLDFAST_WEBHOOK_SECRET.

    Raises:
        ValueError: the setting is wrong; the message is for the operator and never repeats the value.
    """
    scheme = scheme_of(SETTING, url, SmsScheme)
    if scheme is SmsScheme.TWILIO:
        return twilio_verifier(url, http)
    if scheme is not SmsScheme.OUTBOX:
        from holdfast.service.delivery.webhook import webhook_of
        from holdfast.service.sms.webhook_sender import WebhookSmsSender

        return WebhookSmsSender(webhook_of(SETTING, url, webhook_keys, http), host)
    if url.rstrip("/").lower() != "outbox:":
        raise ValueError(f"{SETTING}: outbox: stands alone; the folder is in the data folder.")
    from holdfast.service.sms.outbox_verifier import OutboxSmsVerifier

    return OutboxSmsVerifier(outbox_dir, clock, entropy, host)
