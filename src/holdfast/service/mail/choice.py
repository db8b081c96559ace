"""Chooses the mailer for `HOLDFAST_MAIL_URL`. Only the chosen mailer's module is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.delivery.provider_url import ProviderUrl, parse_base_url, parse_provider_url
from holdfast.service.delivery.schemes import MailScheme, scheme_of
from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import aiohttp

    from holdfast.service.mail.port import Mailer
    from holdfast.service.mail.smtp_mailer import Encryption

SETTING = "HOLDFAST_MAIL_URL"
RESEND_BASE_URL = "https://api.resend.com"
DEFAULT_CONNECTIONS = 3  # what the strictest large provider allows one account to open at once
MAX_CONNECTIONS = 50


@dataclass(frozen=True, slots=True, repr=False)
class _MailSettings:
    """The settings for a mailer."""

    url: str
    sender: str
    http: Callable[[], aiohttp.ClientSession]
    outbox_dir: Path
    host: str
    webhook_keys: Sequence[bytes]
    pages: str


def mailer_of(
    url: str,
    sender: str,
    http: Callable[[], aiohttp.ClientSession],
    outbox_dir: Path,
    product_host: str,
    webhook_keys: Sequence[bytes] = (),
    pages: str = "",
) -> Mailer:
    """Return the mailer that the setting selects.

    Args:
        url: value of HOLDFAST_MAIL_URL.
        sender: value of HOLDFAST_MAIL_FROM.
        http: returns the pooled HTTP session; called when a message is sent.
        outbox_dir: folder of the development outbox.
        product_host: the host name in the mail's text.
        webhook_keys: the secrets in HOLDFAST_WEBHOOK_SECRET.
        pages: the public URL, which notices link to.

    Raises:
        ValueError: the setting is wrong; the message is for the operator and never repeats the value.
    """
    given = _MailSettings(url, sender, http, outbox_dir, product_host, webhook_keys, pages)
    match scheme_of(SETTING, url, MailScheme):
        case MailScheme.RESEND:
            return _resend(given)
        case MailScheme.OUTBOX:
            return _outbox(given)
        case MailScheme.WEBHOOK | MailScheme.LOCAL_WEBHOOK:
            return _webhook(given)
        case MailScheme.SMTP | MailScheme.SMTPS | MailScheme.SMTP_STARTTLS as scheme:
            return _smtp(given, *_SMTP_SCHEMES[scheme])


def _smtp(given: _MailSettings, encryption: Encryption, default_port: int) -> Mailer:
    from holdfast.service.mail.code_mail import mail_identity
    from holdfast.service.mail.smtp_mailer import SmtpMailer, SmtpServer, tls_context_of

    parts = parse_provider_url(SETTING, given.url, ("ca_file", "connections"))
    _refuse_odd_smtp(parts, encryption)
    server = SmtpServer(
        host=parts.host,
        port=parts.port or default_port,
        encryption=encryption,
        user=parts.user,
        password=parts.password,
        tls=tls_context_of(parts.options["ca_file"]) if "ca_file" in parts.options else None,
        connections=_connections(parts.options.get("connections")),
    )
    return SmtpMailer(server, mail_identity(given.sender, given.host, given.pages))


def _refuse_odd_smtp(parts: ProviderUrl, encryption: Encryption) -> None:
    if not parts.host:
        raise ValueError(f"{SETTING}: the SMTP server's host is missing.")
    if bool(parts.user) != bool(parts.password):
        raise ValueError(f"{SETTING}: give both user and password, or neither.")
    if encryption == "none" and "ca_file" in parts.options:
        raise ValueError(f"{SETTING}: ca_file goes with smtps:// and smtp+starttls://; smtp:// does not encrypt.")
    if encryption == "none" and parts.password and not is_this_machine(parts.host):
        import logging

        logging.getLogger("holdfast.mail").warning(
            "%s: smtp:// sends the password and every code unencrypted; use smtps:// or smtp+starttls://.", SETTING
        )


def _connections(text: str | None) -> int:
    if text is None:
        return DEFAULT_CONNECTIONS
    if not (text.isascii() and text.isdigit() and 0 < int(text[:4]) <= MAX_CONNECTIONS):
        raise ValueError(f"{SETTING}: connections is a number from 1 to {MAX_CONNECTIONS}.")
    return int(text)


def _resend(given: _MailSettings) -> Mailer:
    from holdfast.service.mail.code_mail import mail_identity
    from holdfast.service.mail.resend_mailer import ResendMailer

    parts = parse_provider_url(SETTING, given.url, ("base_url",))
    if not parts.user or parts.password or parts.host or parts.port:
        raise ValueError(
            f"{SETTING}: write resend://KEY@ with the key before the @ and nothing after it but ?base_url="
        )
    if not (parts.user.isascii() and parts.user.isprintable()):
        raise ValueError(f"{SETTING}: the key is not one that a header can carry.")
    base_url = parse_base_url(SETTING, parts.options.get("base_url", RESEND_BASE_URL))
    return ResendMailer(parts.user, base_url, given.http, mail_identity(given.sender, given.host, given.pages))


def _webhook(given: _MailSettings) -> Mailer:
    from holdfast.service.delivery.webhook import webhook_of
    from holdfast.service.mail.code_mail import mail_identity
    from holdfast.service.mail.webhook_mailer import WebhookMailer

    hook = webhook_of(SETTING, given.url, given.webhook_keys, given.http)
    return WebhookMailer(hook, mail_identity(given.sender, given.host, given.pages))


def _outbox(given: _MailSettings) -> Mailer:
    from holdfast.service.mail.code_mail import mail_identity
    from holdfast.service.mail.outbox_mailer import OutboxMailer

    if given.url.rstrip("/").lower() != "outbox:":
        raise ValueError(f"{SETTING}: outbox: stands alone; the folder is in the data folder.")
    return OutboxMailer(given.outbox_dir, mail_identity(given.sender, given.host, given.pages))


# Each URL scheme's encryption and default port (RFC 5321, RFC 8314, RFC 6409).
_SMTP_SCHEMES: dict[MailScheme, tuple[Encryption, int]] = {
    MailScheme.SMTP: ("none", 25),
    MailScheme.SMTPS: ("tls", 465),
    MailScheme.SMTP_STARTTLS: ("starttls", 587),
}
