"""Builds the mail that contains a code, with text and HTML from templates. Addresses cannot inject headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import make_msgid
from functools import cache
from html import escape
from importlib import resources
from string import Template

import idna

MAX_ADDRESS_CHARS = 320  # 64 for the local part, the at sign, 255 for the domain (RFC 5321 section 4.5.3.1)
_ATOM = r"[^\x00-\x20\x7f-\xa0\ud800-\udfff()<>\[\]:;,.\\\"@\s]+"  # atext of RFC 5322, widened by RFC 6532
_LOCAL_PART = re.compile(
    rf"(?!.*=\?.*\?=){_ATOM}(?:\.{_ATOM})*"
)  # mail programs would decode what looks like an encoded word
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*|\[(?:IPv6:)?[0-9A-Fa-f.:]+\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CODE = re.compile(r"[0-9A-Za-z]{4,12}")
_PLAIN = policy.SMTP.clone(cte_type="7bit", max_line_length=998)  # a folded address would be an illegal encoded word
_INTERNATIONAL = policy.SMTPUTF8.clone(cte_type="7bit", max_line_length=998)
SECONDS_PER_MINUTE = 60


@dataclass(frozen=True, slots=True)
class CodeMail:
    """The texts of a mail with a code: subject, plain text and HTML."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class MailIdentity:
    """The sender's address, and the host name that the text mentions."""

    sender: Address
    host: str


def mail_identity(sender: str, host: str) -> MailIdentity:
    """Return the identity for a sender such as `Name <box@domain>`. Raises ValueError for anything but one address."""
    if _CONTROL.search(sender + host):
        raise ValueError("The sender or the host of mail holds a control character.")
    found = _only_address(sender)
    return MailIdentity(_address(found.username, found.domain, found.display_name), host)


def recipient_address(text: str) -> Address:
    """Parse the address to which a code is sent.

    Raises ValueError (without the text) for anything else.
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text) > MAX_ADDRESS_CHARS or not _LOCAL_PART.fullmatch(local):
        raise ValueError("not one mail address")
    return _address(local, domain)


def is_international(*addresses: Address) -> bool:
    """Return whether any of these addresses needs SMTPUTF8 (RFC 6531).

    Only local parts are checked, because domains are in ASCII.
    """
    return not all(address.addr_spec.isascii() for address in addresses)


def render(identity: MailIdentity, code: str, lifetime_s: int) -> CodeMail:
    """Return the mail's texts. The subject contains the code, so that notifications show it."""
    if not _CODE.fullmatch(code):
        raise ValueError("not a one-time code")
    subject = f"Your code for {identity.host}: {code}"
    words = {"code": code, "host": identity.host, "lifetime": spoken(lifetime_s), "subject": subject}
    marked_up = {name: escape(word) for name, word in words.items()}
    return CodeMail(subject, _template("code.txt").substitute(words), _template("code.html").substitute(marked_up))


def compose(identity: MailIdentity, to: Address, mail: CodeMail) -> EmailMessage:
    """Return the message with text and HTML as alternatives, marked as automatic (RFC 3834)."""
    message = EmailMessage(policy=_INTERNATIONAL if is_international(identity.sender, to) else _PLAIN)
    message["From"] = identity.sender
    message["To"] = to
    message["Subject"] = mail.subject
    message["Date"] = datetime.now(UTC)
    message["Message-ID"] = make_msgid(domain=identity.sender.domain)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


def spoken(seconds: int) -> str:
    """Return a lifetime as text: in minutes from two minutes up, otherwise in seconds."""
    minutes, rest = divmod(seconds, SECONDS_PER_MINUTE)
    return f"{minutes} minutes" if minutes > 1 and rest == 0 else f"{seconds} seconds"


def _only_address(text: str) -> Address:
    """Return the address in a From header, which must contain exactly one. Raises ValueError."""
    try:
        header = policy.default.header_factory("From", text)
    except (IndexError, MessageError):  # the library's own parser raises other errors for some incomplete addresses
        header = None
    addresses: tuple[Address, ...] = () if header is None or header.defects else header.addresses
    if len(addresses) != 1 or not addresses[0].domain:
        raise ValueError("The sender of mail must be one address, such as: Holdfast <no-reply@example.org>")
    return addresses[0]


def _address(local: str, domain: str, name: str = "") -> Address:
    """Return the address with its domain in ASCII (IDNA 2008), as not all mail servers support SMTPUTF8."""
    try:
        ascii_domain = domain if domain.isascii() else idna.encode(domain, uts46=True).decode()
        address = Address(display_name=name, username=local, domain=ascii_domain)
    except (idna.IDNAError, ValueError, IndexError) as error:
        raise ValueError("not one mail address") from error
    if not _DOMAIN.fullmatch(ascii_domain):
        raise ValueError("not one mail address")
    return address


@cache
def _template(name: str) -> Template:
    """Return the text of one of this package's templates, read only once."""
    text = resources.files(__package__ or "").joinpath("templates", name).read_text(encoding="utf-8")
    return Template(text)
