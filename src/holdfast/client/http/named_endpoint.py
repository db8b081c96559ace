"""Which addresses a service may have its clients call: a service must not reach into the person's own network."""

from __future__ import annotations

import re

import httpx2

from holdfast.wire.hosts import is_this_machine

# As browsers read a host: one whose last label is a number is an IPv4 address, in whatever notation.
_LITERAL = re.compile(r".*:.*|(.*\.)?([0-9]+|0x[0-9a-f]*)\.?", re.ASCII)

_PORTS = 2**16


def endpoint_named(named: str | None, service: str) -> str | None:
    """Return the address that `service` names if it may be used, else None.

    It may be an https address with a name, or one of this machine if the service is on it too.
    """
    if named is None or re.search(r"\s", named):
        return None
    try:
        url, own = httpx2.URL(named), httpx2.URL(service)
        host = url.host if (url.port or 0) < _PORTS else ""
    except (httpx2.InvalidURL, UnicodeError):  # UnicodeError: not a valid name outside ASCII
        return None
    if is_this_machine(host):
        return named if is_this_machine(own.host) and url.scheme in {"http", "https"} else None
    # With https, a host name is accepted, because its server must show a certificate for it before it gets the request.
    return named if url.scheme == "https" and host and not _LITERAL.fullmatch(host) else None
