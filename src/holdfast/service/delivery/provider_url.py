"""Parses the URLs of providers in settings: `scheme://user:password@place?option=…`.

No message from this module repeats any part of the URL, because any part may be a misplaced secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from holdfast.wire.hosts import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
MAX_PORT = 65535


@dataclass(frozen=True, slots=True, repr=False)
class ProviderUrl:
    """The parts of a provider's URL, percent-decoded; `host` keeps its case.

    The class has no repr, so that logs cannot contain the password.

    Attributes:
        port: None if the URL has none.
    """

    scheme: str
    user: str
    password: str
    host: str
    port: int | None
    options: Mapping[str, str]


def parse_provider_url(setting: str, text: str, known_options: Iterable[str]) -> ProviderUrl:
    """Return the parts of `text`. Raises ValueError with the setting and the problem, but never the value."""
    if _FORBIDDEN.search(text):
        raise ValueError(f"{setting}: white space and control characters must be percent-encoded.")
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(f"{setting}: this is not an address of the form scheme://user:password@host.") from None
    if parts.path not in {"", "/"} or parts.fragment:
        raise ValueError(f"{setting}: no path or fragment belongs here; percent-encode : / ? # @ in credentials.")
    credentials, _, server = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    host, port = _host_and_port(setting, server)
    options = _options(setting, parts.query, frozenset(known_options))
    return ProviderUrl(parts.scheme.lower(), _decoded(setting, user), _decoded(setting, password), host, port, options)


def parse_base_url(setting: str, text: str) -> str:
    """Return a provider's HTTP URL without a trailing slash. Raises ValueError unless secrets may be sent to it."""
    sentence = f"{setting}: base_url must be https://host (or http:// on this machine), without credentials or query."
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(sentence) from None
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(host))
    if not host or not secure or "@" in parts.netloc or parts.query or parts.fragment or _FORBIDDEN.search(text):
        raise ValueError(sentence)
    return text.rstrip("/")


def _host_and_port(setting: str, text: str) -> tuple[str, int | None]:
    """Return the host (IPv6 without brackets) and the port. urlsplit would convert Twilio's IDs to lower case."""
    match = re.fullmatch(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[0-9]{1,5}))?", text)
    if match is None or (match["port"] and not 0 < int(match["port"]) <= MAX_PORT):
        raise ValueError(f"{setting}: after the credentials comes host or host:port, with a port up to {MAX_PORT}.")
    return match["v6"] or match["name"] or "", int(match["port"]) if match["port"] else None


def _decoded(setting: str, text: str) -> str:
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ValueError(f"{setting}: percent-encoded credentials must be UTF-8.") from None
    if _CONTROL.search(decoded):
        raise ValueError(f"{setting}: credentials hold no control characters.")
    return decoded


def _options(setting: str, query: str, known: frozenset[str]) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        pairs = [("", "")]
    options = dict(pairs)
    if len(options) != len(pairs) or not options.keys() <= known:
        allowed = ", ".join(sorted(known)) or "none"
        raise ValueError(f"{setting}: the options after '?' are name=value, each once; known here: {allowed}.")
    return options
