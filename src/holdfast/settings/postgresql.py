"""Parses the URL of a PostgreSQL database, which also says whether a pooler is in front of the server."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

SCHEMES = ("postgresql", "postgres")
_POOLER = "pooler"
_TRANSACTION, _PREPARED = "transaction", "prepared"


@dataclass(frozen=True, slots=True)
class Address:
    """A database's address.

    Attributes:
        dsn: the URL for the driver.
        place: the same without user and password, for messages.
        pooled: whether a pooler in transaction mode is in front (`?pooler=transaction`): no statement outlives its
            transaction then, and settings of a connection are the server's.
        prepares: whether statements are prepared and used again: without a pooler, and with one that follows prepared
            statements from connection to connection (`?pooler=prepared`, PgBouncer since 1.21).
    """

    dsn: str
    place: str
    pooled: bool
    prepares: bool = True


def parse_address(url: str) -> Address:
    """Parse the URL of a PostgreSQL database. Raises ValueError, without the URL, for any other form."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.query):
        raise ValueError("postgresql://user:password@host:port/database is needed")
    options = parse_qsl(parts.query, keep_blank_values=True)
    poolers = [value for name, value in options if name == _POOLER]
    if len(poolers) > 1 or any(value not in {_TRANSACTION, _PREPARED} for value in poolers):
        raise ValueError(f"{_POOLER}={_TRANSACTION} or {_POOLER}={_PREPARED} is needed, or neither")
    kept = urlencode([(name, value) for name, value in options if name != _POOLER], safe="/,:")
    hosts = parts.netloc.rpartition("@")[2] or dict(options).get("host", "")
    return Address(
        dsn=f"postgresql://{parts.netloc}{parts.path}{'?' if kept else ''}{kept}",
        place=f"postgresql://{hosts}{parts.path}",
        pooled=bool(poolers),
        prepares=poolers != [_TRANSACTION],
    )
