"""What `holdfast check` says of a PostgreSQL server: settings on which durability rests, standbys, clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from holdfast.service.store.database import Concern

if TYPE_CHECKING:
    from asyncpg import Record

    from holdfast.service.store.postgresql.lane import Connection

CLOCK_TOLERANCE_S = 1.0  # windows and expiries compare the times of all nodes
_OLDEST = 14


class _Wanted(NamedTuple):
    """A setting, the values that keep every promise, what another one risks, and whether that is an error."""

    name: str
    good: tuple[str, ...]
    risk: str
    is_error: bool


_WANTED = (
    _Wanted("fsync", ("on",), "a crash of the server's machine destroys the database", is_error=True),
    _Wanted("full_page_writes", ("on",), "a crash of the server's machine damages pages", is_error=True),
    _Wanted("data_checksums", ("on",), "a damaged page is not noticed: pg_checksums --enable", is_error=False),
)
_DURABLE = ("on", "remote_apply")
_NAMES = (*(wanted.name for wanted in _WANTED), "synchronous_commit", "synchronous_standby_names", "server_version_num")


async def look(connection: Connection) -> list[Concern]:
    """Every finding, read over one connection."""
    settings = {name: await connection.fetchval("SELECT current_setting($1)", name) for name in _NAMES}
    standbys = await connection.fetch("SELECT application_name, state, sync_state FROM pg_stat_replication")
    before = time.time()
    theirs = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
    return [
        version(int(settings["server_version_num"])),
        *(setting(wanted, settings[wanted.name]) for wanted in _WANTED),
        *replication(settings["synchronous_commit"], settings["synchronous_standby_names"], standbys),
        clock(before, time.time(), theirs),
    ]


def version(number: int) -> Concern:
    """Whether the server has what the store's functions need."""
    major = number // 10_000
    if major < _OLDEST:
        return Concern("server version", "error", f"PostgreSQL {major}", f"upgrade to {_OLDEST} or later")
    return Concern("server version", "ok", f"PostgreSQL {major}")


def setting(wanted: _Wanted, value: str) -> Concern:
    """Whether one setting has a value that keeps what was answered."""
    if value in wanted.good:
        return Concern(wanted.name, "ok", value)
    return Concern(wanted.name, "error" if wanted.is_error else "note", value, f"set it to on: {wanted.risk}")


def replication(commit: str, names: str, standbys: list[Record] | list[dict[str, str]]) -> list[Concern]:
    """Whether answered writes survive the loss of the server, and whether commits wait for a standby that is gone."""
    found = f"synchronous_commit {commit}"
    if commit not in (*_DURABLE, "local", "remote_write"):
        fix = "set synchronous_commit to on: answered writes are lost when the server crashes"
        return [Concern("commits", "error", found, fix)]
    if not names:
        fix = "name a standby in synchronous_standby_names: without it a fail-over loses the latest answered writes"
        return [Concern("commits", "note", f"{found}, no synchronous standby", fix)]
    if commit not in _DURABLE:
        fix = "set synchronous_commit to on: a fail-over to the standby loses answered writes"
        return [Concern("commits", "error", f"{found}, standbys named", fix)]
    present = sorted(row["application_name"] for row in standbys if row["sync_state"] in {"sync", "quorum"})
    if not present:
        fix = "start the standby, or empty synchronous_standby_names and reload: until then every write answers 503"
        return [Concern("commits", "error", f"{found}, no synchronous standby is connected", fix)]
    return [Concern("commits", "ok", f"{found}, synchronous to {', '.join(present)}")]


def clock(before: float, after: float, theirs: float) -> Concern:
    """Whether this machine's clock agrees with the server's, as far as the question's own duration can tell."""
    off = max(before - theirs, theirs - after, 0.0)
    if off > CLOCK_TOLERANCE_S:
        return Concern("database clock", "error", f"differs by {off:.1f} s from this machine's", "synchronise by NTP")
    return Concern("database clock", "ok", f"within {CLOCK_TOLERANCE_S:.0f} s of this machine's")
