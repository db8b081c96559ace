"""Builds the mail that contains a code, with text and HTML from templates. Addresses cannot inject headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.utils import make_msgid
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from holdfast.service.delivery.mail_addresses import has_control, sender_address

if TYPE_CHECKING:
    from email.headerregistry import Address

_CODE = re.compile(r"[0-9A-Za-z]{4,12}")
_PLAIN = policy.SMTP.clone(cte_type="7bit", max_line_length=998)  # a folded address would be an illegal encoded word
_INTERNATIONAL = policy.SMTPUTF8.clone(cte_type="7bit", max_line_length=998)
SECONDS_PER_MINUTE = 60


@dataclass(frozen=True, slots=True)
class CodeMail:
    """The texts of a mail: subject, plain text and HTML. `name` identifies one that may be sent twice."""

    subject: str
    text: str
    html: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class MailIdentity:
    """The sender's address, the host name that the texts mention, and the address of the pages."""

    sender: Address
    host: str
    pages: str = ""


def mail_identity(sender: str, host: str, pages: str = "") -> MailIdentity:
    """Return the identity for a sender such as `Name <box@domain>`. Raises ValueError for anything but one address."""
    if has_control(host):
        raise ValueError("the host of mail holds a control character")
    return MailIdentity(sender_address(sender), host, pages)


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
    return CodeMail(subject, template("code.txt").substitute(words), template("code.html").substitute(marked_up))


def compose(identity: MailIdentity, to: Address, mail: CodeMail) -> EmailMessage:
    """Return the message with text and HTML as alternatives, marked as automatic (RFC 3834)."""
    message = EmailMessage(policy=_INTERNATIONAL if is_international(identity.sender, to) else _PLAIN)
    message["From"] = identity.sender
    message["To"] = to
    message["Subject"] = mail.subject
    message["Date"] = datetime.now(UTC)
    same = f"<{mail.name}@{identity.sender.domain}>" if mail.name else ""
    message["Message-ID"] = same or make_msgid(domain=identity.sender.domain)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


def spoken(seconds: int) -> str:
    """Return a lifetime as text: in minutes if it is at least two minutes, otherwise in seconds."""
    minutes, rest = divmod(seconds, SECONDS_PER_MINUTE)
    return f"{minutes} minutes" if minutes > 1 and rest == 0 else f"{seconds} seconds"


@cache
def template(name: str) -> Template:
    """Return the text of one of this package's templates, read only once."""
    text = resources.files(__package__ or "").joinpath("templates", name).read_text(encoding="utf-8")
    return Template(text)
