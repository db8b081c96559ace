"""What `holdfast check` reports about a PostgreSQL server: version, settings, schema, connections, standbys, clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from holdfast.service.store.findings import Finding
from holdfast.service.store.postgresql.citus import citus_findings
from holdfast.service.store.postgresql.findings_connections import connection_findings
from holdfast.service.store.postgresql.findings_replication import replication_findings
from holdfast.service.store.postgresql.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from holdfast.service.store.postgresql.address import Address
    from holdfast.service.store.postgresql.connection import Connection

CLOCK_TOLERANCE_S = 1.0  # windows and expiries compare the times of all nodes
_OLDEST = 14


class _Wanted(NamedTuple):
    """A setting, its safe values, the risk of other values, and whether other values are an error."""

    name: str
    good: tuple[str, ...]
    risk: str
    is_error: bool


_WANTED = (
    _Wanted("fsync", ("on",), "a crash of the server's machine destroys the database", is_error=True),
    _Wanted("full_page_writes", ("on",), "a crash of the server's machine damages pages", is_error=True),
    _Wanted("default_transaction_isolation", ("read committed",), "writes fail under load (40001)", is_error=True),
    _Wanted("default_transaction_read_only", ("off",), "every write answers 503", is_error=True),
    _Wanted("server_encoding", ("UTF8",), "other encodings refuse names; create the database anew", is_error=True),
    _Wanted("data_checksums", ("on",), "a damaged page is not noticed: pg_checksums --enable", is_error=False),
)
_NAMES = (*(wanted.name for wanted in _WANTED), "server_version_num")


async def server_findings(connection: Connection, address: Address, workers: int) -> list[Finding]:
    """Return all findings. `workers`: the number of processes on this node."""
    settings = {name: await connection.fetchval("SELECT current_setting($1)", name) for name in _NAMES}
    schema = await connection.fetchrow("SELECT version, oldest FROM holdfast.schema_version")
    before = time.time()
    theirs = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
    return [
        version(int(settings["server_version_num"])),
        *(setting(wanted, settings[wanted.name]) for wanted in _WANTED),
        *(schema_version(row["version"], row["oldest"]) for row in (schema,) if row is not None),
        *await citus_findings(connection),
        *await replication_findings(connection, pooled=address.pooled),
        *await connection_findings(connection, address, workers),
        clock(before, time.time(), theirs),
    ]


def schema_version(found: int, oldest: int) -> Finding:
    """Report the database's schema version, and the oldest schema version whose releases can still use the database."""
    text = f"{found}, for releases from schema {oldest} on; this one knows {SCHEMA_VERSION}"
    if found > SCHEMA_VERSION:
        return Finding("schema", "note", text, "a newer release has migrated: replace this node by that release")
    return Finding("schema", "ok", text)


def version(number: int) -> Finding:
    """Check that the server's version is recent enough for the store's functions."""
    major = number // 10_000
    if major < _OLDEST:
        return Finding("server version", "error", f"PostgreSQL {major}", f"upgrade to {_OLDEST} or later")
    return Finding("server version", "ok", f"PostgreSQL {major}")


def setting(wanted: _Wanted, value: str) -> Finding:
    """Check that a setting has a safe value."""
    if value in wanted.good:
        return Finding(wanted.name, "ok", value)
    fix = f"set it to {wanted.good[0]}: {wanted.risk}"
    return Finding(wanted.name, "error" if wanted.is_error else "note", value, fix)


def clock(before: float, after: float, theirs: float) -> Finding:
    """Check that this machine's clock agrees with the server's, allowing for the duration of the query."""
    off = max(before - theirs, theirs - after, 0.0)
    if off > CLOCK_TOLERANCE_S:
        return Finding("database clock", "error", f"differs by {off:.1f} s from this machine's", "synchronise by NTP")
    return Finding("database clock", "ok", f"within {CLOCK_TOLERANCE_S:.0f} s of this machine's")
