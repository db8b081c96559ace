"""The providers of codes by the schemes of their addresses: what settings accept, and mail/ and sms/ choose from."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar


class MailScheme(StrEnum):
    """How HOLDFAST_MAIL_URL begins."""

    SMTP = "smtp"
    SMTPS = "smtps"
    SMTP_STARTTLS = "smtp+starttls"
    RESEND = "resend"
    OUTBOX = "outbox"


class SmsScheme(StrEnum):
    """How HOLDFAST_SMS_URL begins."""

    TWILIO = "twilio"
    OUTBOX = "outbox"


Scheme = TypeVar("Scheme", MailScheme, SmsScheme)


def scheme_of(setting: str, url: str, schemes: type[Scheme]) -> Scheme:
    """Return the scheme of an address. Raises ValueError that names the setting and the schemes, never the URL."""
    try:
        return schemes(url.partition(":")[0].lower())
    except ValueError:
        known = ", ".join(f"{scheme.value}:" for scheme in schemes)
        raise ValueError(f"{setting}: the address begins with one of these: {known}") from None
