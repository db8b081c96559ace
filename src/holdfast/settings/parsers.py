"""Text of a setting to its value. Each parser raises ValueError with a sentence that does not repeat the text."""

from __future__ import annotations

import ipaddress
import math
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PORT = 65535
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_DIGITS = re.compile(r"[0-9]{1,19}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def integer_between(low: int, high: int) -> Callable[[str], int]:
    """A parser of integers in decimal ASCII digits, both ends included."""

    def parse(text: str) -> int:
        if not _DIGITS.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high} is needed")
        return int(text)

    return parse


def seconds(text: str) -> float:
    """A duration of zero or more seconds, fractions included."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError("a number of seconds is needed")
    return value


def one_of(*choices: str) -> Callable[[str], str]:
    """A parser that takes each of these words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError("one of these is needed: " + ", ".join(choices))
        return text

    return parse


def http_url(text: str) -> str:
    """An HTTP address, without a slash at its end."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("an http:// or https:// address is needed")
    return text.rstrip("/")


def public_url(text: str) -> str:
    """An HTTP address that people and pages are shown, so nothing in it may be a secret."""
    parts = urlsplit(http_url(text))
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without user, password, query and fragment is needed: it is shown to everybody")
    return text.rstrip("/")


def https_origins(text: str) -> tuple[str, ...]:
    """Origins of pages (RFC 6454), such as `https://app.example`, separated by commas; `none` for an empty list."""
    if text == "none":
        return ()
    return tuple(dict.fromkeys(_origin(part.strip()) for part in text.split(",") if part.strip()))


def _origin(text: str) -> str:
    parts = urlsplit(text.rstrip("/"))
    if parts.scheme != "https" or not parts.hostname or parts.path or parts.query or parts.fragment or "@" in text:
        raise ValueError("origins as https://app.example, separated by commas, or none are needed")
    return f"https://{parts.netloc.lower()}"


def url_with(*schemes: str) -> Callable[[str], str]:
    """A parser of URLs of these schemes; what follows the colon is for the provider to check."""

    def parse(text: str) -> str:
        if text.partition(":")[0] not in schemes:
            raise ValueError("an address that begins with one of these is needed: " + ", ".join(schemes))
        return text

    return parse


def chain_address(text: str) -> str:
    """A 20-byte address of a chain in hex."""
    if not _ADDRESS.fullmatch(text):
        raise ValueError("0x and 40 hex digits are needed")
    return text


def chain_address_or_none(text: str) -> str:
    """The same, or the word `none`, which becomes empty."""
    return "" if text == "none" else chain_address(text)


def header_name(text: str) -> str:
    """The name of an HTTP header, in lower case."""
    if not _HEADER.fullmatch(text):
        raise ValueError("the name of a header is needed")
    return text.lower()


def networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Addresses or CIDR blocks, separated by commas; the word `none` for an empty list."""
    if text == "none":
        return ()
    try:
        return tuple(ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("addresses or CIDR blocks, separated by commas, or none are needed") from None


def module_attribute(text: str) -> str:
    """The place of a Python object, as `package.module:attribute`."""
    module, colon, attribute = text.partition(":")
    if not (colon and _DOTTED.fullmatch(module) and _DOTTED.fullmatch(attribute)):
        raise ValueError("module:attribute of an ASGI application is needed")
    return text
