"""Parsers that convert a setting's text to its value.

Every parser raises ValueError with a message that does not quote the text.
"""

from __future__ import annotations

import ipaddress
import math
import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PORT = 65535
MAX_NAME = 40
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_DIGITS = re.compile(r"[0-9]{1,19}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_HOST_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")


def integer_between(low: int, high: int) -> Callable[[str], int]:
    """Return a parser for integers from `low` to `high`, inclusive, in ASCII digits."""

    def parse(text: str) -> int:
        if not _DIGITS.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high} is needed")
        return int(text)

    return parse


def seconds(text: str) -> float:
    """Parse a duration of zero or more seconds; fractions are allowed."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError("a number of seconds is needed")
    return value


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts only these words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError("one of these is needed: " + ", ".join(choices))
        return text

    return parse


def http_url(text: str) -> str:
    """Parse an HTTP URL, and remove a trailing slash."""
    parts = _split(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or re.search(r"\s", text):
        raise ValueError("an http:// or https:// address is needed")
    if not _has_port(parts):
        raise ValueError("an address with a port from 1 to 65535, or without one, is needed")
    return text.rstrip("/")


def _split(text: str) -> SplitResult:
    """Split an address. One that cannot be split, such as one with a single bracket, has no part."""
    try:
        return urlsplit(text)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _has_port(parts: SplitResult) -> bool:
    """Return whether the address has a usable port, or none."""
    try:
        return parts.port != 0
    except ValueError:
        return False


def public_url(text: str) -> str:
    """Parse an HTTP URL that is shown to people and therefore must not contain a secret."""
    parts = urlsplit(http_url(text))
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address without user, password, query and fragment is needed: it is public")
    if not parts.netloc.isascii():
        raise ValueError("a host in ASCII is needed, as browsers write it: xn--…")
    return text.rstrip("/")


def own_origin(text: str) -> str:
    """Parse the service's own address, and return it as browsers write an origin."""
    parts = urlsplit(public_url(text))
    if parts.path:
        raise ValueError("an address without a path is needed: pages and interface are at the host's root")
    if not parts.netloc.isascii():
        raise ValueError("a host in ASCII is needed, as browsers send it (xn--…)")
    return _written(parts)


def _written(parts: SplitResult) -> str:
    """Return an origin as browsers write it: in lower case, without the scheme's usual port."""
    usual = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"


def https_origins(text: str) -> tuple[str, ...]:
    """Parse comma-separated origins (RFC 6454), such as `https://app.example`; `none` for an empty list."""
    if text == "none":
        return ()
    return tuple(dict.fromkeys(_origin(part.strip()) for part in _parts(text)))


def _origin(text: str) -> str:
    parts = _split(text.rstrip("/"))
    if (
        parts.scheme != "https"
        or not parts.hostname
        or not _has_port(parts)
        or parts.path
        or parts.query
        or parts.fragment
        or "@" in text
    ):
        raise ValueError("origins as https://app.example, separated by commas, or none are needed")
    return _written(parts)


def _parts(text: str) -> list[str]:
    """Split a list at its commas, one of which may be left over. A list of commas has one part, which is empty."""
    return [part for part in text.split(",") if part.strip()] or [""]


def host_names(text: str) -> tuple[str, ...]:
    """Parse comma-separated host names; `none` for an empty list."""
    names = () if text == "none" else tuple(part.strip().lower() for part in text.split(","))
    if not all(_HOST_NAME.fullmatch(name) for name in names):
        raise ValueError("host names as admin.example, separated by commas, or none are needed")
    return names


def shown_name(text: str) -> str:
    """Parse the service's name for the pages: one line of 1 to 40 printable characters."""
    name = text.strip()
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ValueError(f"a name of 1 to {MAX_NAME} printable characters is needed")
    return name


def url_with(*schemes: str, otherwise: str = "") -> Callable[[str], str]:
    """Return a parser for URLs with these schemes. The provider checks the rest of the URL.

    `otherwise`: what else an operator may want, for the message.
    """

    def parse(text: str) -> str:
        if text.partition(":")[0] not in schemes:
            raise ValueError("an address that begins with one of these is needed: " + ", ".join(schemes) + otherwise)
        return text

    return parse


def chain_address(text: str) -> str:
    """Parse a 20-byte chain address in hex."""
    if not _ADDRESS.fullmatch(text):
        raise ValueError("0x and 40 hex digits are needed")
    return text


def chain_address_or_none(text: str) -> str:
    """Parse a 20-byte chain address in hex, or the word `none`, which becomes ""."""
    if text != "none" and not _ADDRESS.fullmatch(text):
        raise ValueError("0x and 40 hex digits, or none, are needed")
    return text.removeprefix("none")


def header_name(text: str) -> str:
    """Parse the name of an HTTP header, and convert it to lower case."""
    if not _HEADER.fullmatch(text):
        raise ValueError("the name of a header is needed")
    return text.lower()


def networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Parse addresses or CIDR blocks, separated by commas; the word `none` becomes an empty list."""
    if text == "none":
        return ()
    try:
        return tuple(ipaddress.ip_network(part.strip(), strict=False) for part in _parts(text))
    except ValueError:
        raise ValueError("addresses or CIDR blocks, separated by commas, or none are needed") from None


def module_attribute(text: str) -> str:
    """Parse the import path of a Python object, in the form `package.module:attribute`."""
    module, colon, attribute = text.partition(":")
    if not (colon and _DOTTED.fullmatch(module) and _DOTTED.fullmatch(attribute)):
        raise ValueError("module:attribute of an ASGI application is needed")
    return text
