"""Validates identifiers, and derives the canonical key for comparing them (RFC 8265 for handles, E.164 for phones)."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.limits import MAX_HANDLE_CHARACTERS, MAX_IDENTIFIER_CHARACTERS
from holdfast.rules.phones import phone_key
from holdfast.wire.errors import INVALID_CHANNEL, INVALID_IDENTIFIER, INVALID_VERIFY_CHANNEL, Refused

if TYPE_CHECKING:
    from collections.abc import Collection


class Channel(StrEnum):
    """The kind of an identifier: a chosen handle, or an e-mail address or phone number, verified by a code."""

    HANDLE = "handle"
    EMAIL = "email"
    SMS = "sms"


class Identifier(msgspec.Struct, frozen=True, gc=False):
    """An identifier as its owner wrote it, and the canonical key that all spellings of it share."""

    channel: Channel
    key: str
    given: str


ALL_CHANNELS = frozenset(Channel)
_CHANNELS = {channel.value: channel for channel in Channel}
_PLAIN_HANDLE = re.compile(rf"[\x21-\x7e]{{1,{MAX_HANDLE_CHARACTERS}}}")
_BLANK = "\u2800"  # a symbol in Unicode, but it looks like white space
_MAX_LOCAL_PART = 64
_MAX_DOMAIN = 253
_MAX_LABEL = 63
_LOCAL_FORBIDDEN = frozenset('"(),:;<>@[\\]')
_BIDI_CLASSES = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
# Direction marks, which Unicode lists as format characters (ALM, LRM, RLM).
_BIDI_MARKS = frozenset("\u061c\u200e\u200f")


def parse_channel(text: str, offered: Collection[Channel] = ALL_CHANNELS) -> Channel:
    """Return the channel in a request for a session or registration.

    Raises Refused(INVALID_CHANNEL), also for a channel that the service does not offer.
    """
    channel = _CHANNELS.get(text)
    if channel is None or channel not in offered:
        raise Refused(INVALID_CHANNEL)
    return channel


def parse_verify_channel(text: str, offered: Collection[Channel] = ALL_CHANNELS) -> Channel:
    """Return the channel in a request for a code, which cannot be "handle".

    Raises Refused(INVALID_VERIFY_CHANNEL), also for a channel that the service does not offer.
    """
    channel = _CHANNELS.get(text)
    if channel is None or channel is Channel.HANDLE or channel not in offered:
        raise Refused(INVALID_VERIFY_CHANNEL)
    return channel


def parse_identifier(text: str, channel: Channel) -> Identifier:
    """Return the identifier with its canonical key. Raises Refused(INVALID_IDENTIFIER) if it is invalid."""
    if channel is Channel.HANDLE and _PLAIN_HANDLE.fullmatch(text):
        # For visible ASCII text, the steps below would only change the case, so they are skipped. A property test
        # asserts that skipping them does not change the result.
        return Identifier(channel, text.lower(), text)
    folded = _fold(text)
    try:
        key = _KEYS[channel](folded)
    except ValueError:
        raise Refused(INVALID_IDENTIFIER) from None
    if not key or len(key) > MAX_IDENTIFIER_CHARACTERS:
        raise Refused(INVALID_IDENTIFIER)
    return Identifier(channel, key, text)


def _fold(text: str) -> str:
    """Return the trimmed text in Unicode Normalization Form NFKC.

    Raises Refused if too long, or for a control, direction or space mark.
    """
    if len(text) > MAX_IDENTIFIER_CHARACTERS or any(map(_is_refused, text)):
        raise Refused(INVALID_IDENTIFIER)
    folded = unicodedata.normalize("NFKC", text).strip()
    if len(folded) > MAX_IDENTIFIER_CHARACTERS or any(c.isspace() or _is_refused(c) for c in folded):
        raise Refused(INVALID_IDENTIFIER)
    return folded


def _is_refused(character: str) -> bool:
    return (
        unicodedata.category(character) in _REFUSED_CATEGORIES
        or unicodedata.bidirectional(character) in _BIDI_CLASSES
        or character in _BIDI_MARKS
        or character == "\ufffd"  # represents bytes that were not UTF-8
    )


def _handle_key(text: str) -> str:
    # Imported here to keep startup quick: only non-ASCII handles need this package's tables.
    from precis_i18n import get_profile

    key: str = get_profile("UsernameCaseMapped").enforce(text)
    if max(len(key), len(text)) > MAX_HANDLE_CHARACTERS:
        raise ValueError("handle too long")
    return key


def _email_key(text: str) -> str:
    local, at, domain = text.rpartition("@")
    # A dot-atom must not have a leading, trailing or double dot (RFC 5322, section 3.2.3), so such an address is
    # undeliverable.
    if (
        not at
        or not 1 <= len(local.encode()) <= _MAX_LOCAL_PART
        or _LOCAL_FORBIDDEN & set(local)
        or "" in local.split(".")
    ):
        raise ValueError("no shape of an e-mail address")
    domain = _visible(_unicode_domain(domain.lower()))
    if len(domain) > _MAX_DOMAIN or not all(map(_is_label, domain.split("."))):
        raise ValueError("no shape of a mail domain")
    return f"{_visible(local).lower()}@{domain}"


def _visible(part: str) -> str:
    """Check and return a part of an e-mail address.

    Raises ValueError for an invisible character, such as a zero-width space. With invisible characters, two different
    addresses could look the same, and no mailbox needs them (RFC 8264, FreeformClass).
    """
    if part.isascii():
        return part
    from precis_i18n import get_profile  # as for handles, needed beyond ASCII only

    enforced: str = get_profile("OpaqueString").enforce(part)
    if _BLANK in enforced:
        raise ValueError("a blank in an address")
    return enforced


def _unicode_domain(domain: str) -> str:
    """Return the domain with its `xn--` labels (RFC 5891) decoded, as both spellings denote the same domain."""
    if "xn--" not in domain:
        return domain
    import idna

    return ".".join(idna.decode(label) if label.startswith("xn--") else label for label in domain.split("."))


def _is_label(label: str) -> bool:
    return (
        1 <= len(label) <= _MAX_LABEL
        and not label.startswith("-")
        and not label.endswith("-")
        and all(c.isalnum() or c == "-" or unicodedata.category(c)[0] == "M" for c in label)
    )


_KEYS = {Channel.HANDLE: _handle_key, Channel.EMAIL: _email_key, Channel.SMS: phone_key}
