"""Which addresses a service may have its clients call: a service must not reach into the person's own network."""

from __future__ import annotations

from ipaddress import ip_address

import httpx


def endpoint_named(named: str | None, service: str) -> str | None:
    """Return the address that `service` names if it may be used, else None.

    It may be an https address that is not a private one, or one of this machine if the service is on it too.
    """
    try:
        url, own = httpx.URL(named or ""), httpx.URL(service)
    except httpx.InvalidURL:
        return None
    if _is_loopback(url.host):
        return named if _is_loopback(own.host) and url.scheme in {"http", "https"} else None
    return named if url.scheme == "https" and url.host and not _is_private(url.host) else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False  # a name: its server has to prove it with a certificate before it gets the request
