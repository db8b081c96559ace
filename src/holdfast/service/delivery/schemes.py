"""The URL schemes that settings accept for the delivery of codes and events; each scheme selects a provider."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar


class MailScheme(StrEnum):
    """The schemes of HOLDFAST_MAIL_URL."""

    SMTP = "smtp"
    SMTPS = "smtps"
    SMTP_STARTTLS = "smtp+starttls"
    RESEND = "resend"
    WEBHOOK = "webhook+https"
    LOCAL_WEBHOOK = "webhook+http"
    OUTBOX = "outbox"


class SmsScheme(StrEnum):
    """The schemes of HOLDFAST_SMS_URL."""

    TWILIO = "twilio"
    WEBHOOK = "webhook+https"
    LOCAL_WEBHOOK = "webhook+http"
    OUTBOX = "outbox"


class EventScheme(StrEnum):
    """The schemes of HOLDFAST_EVENTS_URL."""

    WEBHOOK = "webhook+https"
    LOCAL_WEBHOOK = "webhook+http"


Scheme = TypeVar("Scheme", MailScheme, SmsScheme)


def scheme_of(setting: str, url: str, schemes: type[Scheme]) -> Scheme:
    """Return a URL's scheme. Raises ValueError with the setting's name and the known schemes, never the URL."""
    try:
        return schemes(url.partition(":")[0].lower())
    except ValueError:
        known = ", ".join(f"{scheme.value}:" for scheme in schemes)
        raise ValueError(f"{setting}: the address begins with one of these: {known}") from None
