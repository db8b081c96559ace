"""Chooses the verifier for `HOLDFAST_SMS_URL`. The development outbox is imported only if the setting selects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.delivery.schemes import SmsScheme, scheme_of
from holdfast.service.sms.twilio import SETTING, twilio_verifier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import aiohttp

    from holdfast.service.sms.port import SmsVerifier


def sms_verifier_of(
    url: str,
    http: Callable[[], aiohttp.ClientSession],
    outbox_dir: Path,
    clock: Callable[[], float],
    entropy: Callable[[int], bytes],
    host: str = "",
) -> SmsVerifier:
    """Return the SMS verifier that the setting selects.

    Args:
        url: value of HOLDFAST_SMS_URL.
        http: returns the pooled HTTP session; called when a message is sent.
        outbox_dir: folder of the development outbox.
        clock: seconds since the epoch, for the outbox's codes.
        entropy: returns that many random bytes, for the outbox's codes.
        host: the public host, to which the outbox's messages bind their codes; without it they bind them to none.

    Raises:
        ValueError: the setting is wrong; the message is for the operator and never repeats the value.
    """
    if scheme_of(SETTING, url, SmsScheme) is SmsScheme.TWILIO:
        return twilio_verifier(url, http)
    if url.rstrip("/").lower() != "outbox:":
        raise ValueError(f"{SETTING}: outbox: stands alone; the folder is in the data folder.")
    from holdfast.service.sms.outbox_verifier import OutboxSmsVerifier

    return OutboxSmsVerifier(outbox_dir, clock, entropy, host)
