"""Parses the URL of a PostgreSQL database, which also says whether a pooler is in front of the server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from holdfast.settings.parsers import MAX_PORT

# urlsplit of Python 3.13 refuses an IPv6 address in a list of servers.
_URL = re.compile(r"(?:postgresql|postgres)://(?P<servers>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?")
_PORT = re.compile(r"[0-9]{0,5}")
_POOLER = "pooler"
_TRANSACTION, _PREPARED = "transaction", "prepared"
_ATTRIBUTES = "target_session_attrs"
_CHOICES = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    _ATTRIBUTES: ("any", "primary", "standby", "read-write", "read-only", "prefer-standby"),
}


@dataclass(frozen=True, slots=True)
class Address:
    """A database's address.

    Attributes:
        dsn: the URL for the driver.
        location: the same without user and password, for messages.
        pooled: whether a pooler in transaction mode is in front (`?pooler=transaction`): no statement outlives its
            transaction then, and settings of a connection are the server's.
        prepares: whether statements are prepared and used again: without a pooler, and with one that follows prepared
            statements from connection to connection (`?pooler=prepared`, PgBouncer since 1.21).
        servers: a URL for the driver for each server that `dsn` names, in its order. Of several servers only one that
            takes writes is used, unless the URL says otherwise.
    """

    dsn: str
    location: str
    pooled: bool
    prepares: bool = True
    servers: tuple[str, ...] = ()


def parse_address(url: str) -> Address:
    """Parse the URL of a PostgreSQL database. Raises ValueError, without the URL, for any other form."""
    parts = _URL.fullmatch(url)
    if not parts or not (parts["servers"] or parts["query"]):
        raise ValueError("postgresql://user:password@host:port/database is needed")
    servers, path = parts["servers"], parts["path"]
    options = parse_qsl(parts["query"] or "", keep_blank_values=True)
    poolers = [value for name, value in options if name == _POOLER]
    if len(poolers) > 1 or any(value not in {_TRANSACTION, _PREPARED} for value in poolers):
        raise ValueError(f"{_POOLER}={_TRANSACTION} or {_POOLER}={_PREPARED} is needed, or neither")
    others = [(name, value) for name, value in options if name != _POOLER]
    _check_options(others)
    hosts = servers.rpartition("@")[2] or dict(options).get("host", "")
    ports = [*map(_port, servers.rpartition("@")[2].split(",")), *dict(options).get("port", "").split(",")]
    each = _servers(servers, path, others)
    are_ports = all(_PORT.fullmatch(port) and 0 < int(port or "1") <= MAX_PORT for port in ports)
    if not are_ports or not all(map(_splits, each)):
        raise ValueError(
            "after a host comes its port, a number up to 65535, or nothing; percent-encode : / ? # @ in a password"
        )
    return Address(
        dsn=_url(servers, path, others),
        location=f"postgresql://{hosts}{path}",
        pooled=bool(poolers),
        prepares=poolers != [_TRANSACTION],
        servers=tuple(each),
    )


def _check_options(options: list[tuple[str, str]]) -> None:
    """Raise ValueError for an option whose mistake the driver would report as a failed connection."""
    for name, value in options:
        if name in _CHOICES and value not in _CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(_CHOICES[name])}")
        if name == "sslrootcert" and not _are_certificates(value):
            raise ValueError("sslrootcert must name a readable file of certificates in PEM")


def _are_certificates(file: str) -> bool:
    import ssl  # only here, because few addresses name a file

    try:
        ssl.create_default_context(cafile=file)
    except OSError:  # ssl.SSLError is one
        return False
    return True


def _port(server: str) -> str:
    """Return what follows the colon after a host; an IPv6 address has brackets."""
    return server.rpartition("]")[2].partition(":")[2]


def _splits(url: str) -> bool:
    """Return whether the driver can split the URL: brackets belong around an IPv6 address alone."""
    try:
        return bool(urlsplit(url))
    except ValueError:
        return False


def _url(netloc: str, path: str, options: list[tuple[str, str]]) -> str:
    query = urlencode(options, safe="/,:")
    return f"postgresql://{netloc}{path}{'?' if query else ''}{query}"


def _servers(netloc: str, path: str, options: list[tuple[str, str]]) -> list[str]:
    """Return a URL for each server. The servers are named before the path, or by the options `host` and `port`."""
    user, at, hosts = netloc.rpartition("@")
    named = dict(options)
    each = hosts.split(",") if hosts else named.get("host", "").split(",")
    if len(each) == 1:
        return [_url(netloc, path, options)]
    others = [(name, value) for name, value in options if hosts or name not in {"host", "port"}]
    if _ATTRIBUTES not in named:
        others.append((_ATTRIBUTES, "read-write"))
    if hosts:
        return [_url(f"{user}{at}{host}", path, others) for host in each]
    ports = named.get("port", "").split(",")
    ports *= len(each) if len(ports) == 1 else 1
    return [
        _url(netloc, path, [("host", host), *([("port", port)] if port else []), *others])
        for host, port in zip(each, ports, strict=False)
    ]
