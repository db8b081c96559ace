"""Parses the addresses of mail: the sender in a setting and the recipient of a code."""

from __future__ import annotations

import re
from email import policy
from email.errors import MessageError
from email.headerregistry import Address

import idna

MAX_ADDRESS_CHARS = 320  # 64 for the local part, the at sign, 255 for the domain (RFC 5321 section 4.5.3.1)
_ATOM = r"[^\x00-\x20\x7f-\xa0\ud800-\udfff()<>\[\]:;,.\\\"@\s]+"  # atext of RFC 5322, widened by RFC 6532
_LOCAL_PART = re.compile(
    rf"(?!.*=\?.*\?=){_ATOM}(?:\.{_ATOM})*"
)  # mail programs would decode what looks like an encoded word
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*|\[(?:IPv6:)?[0-9A-Fa-f.:]+\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def has_control(text: str) -> bool:
    """Return whether the text contains a control character or a line separator, which could end a header."""
    return bool(_CONTROL.search(text))


def sender_address(text: str) -> Address:
    """Parse a sender such as `Name <box@domain>`. Raises ValueError, without the text, for anything but one address."""
    if has_control(text):
        raise ValueError("the sender of mail holds a control character")
    found = _only_address(text)
    return _address(found.username, found.domain, found.display_name)


def recipient_address(text: str) -> Address:
    """Parse the address to which a code is sent.

    Raises ValueError (without the text) for anything else.
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text) > MAX_ADDRESS_CHARS or not _LOCAL_PART.fullmatch(local):
        raise ValueError("not one mail address")
    return _address(local, domain)


def _only_address(text: str) -> Address:
    """Return the address in a From header, which must contain exactly one. Raises ValueError."""
    try:
        header = policy.default.header_factory("From", text)
    except (IndexError, MessageError):  # the library's own parser raises other errors for some incomplete addresses
        header = None
    addresses: tuple[Address, ...] = () if header is None or header.defects else header.addresses
    if len(addresses) != 1 or not addresses[0].domain:
        raise ValueError("the sender of mail must be one address, such as: Holdfast <no-reply@example.org>")
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
