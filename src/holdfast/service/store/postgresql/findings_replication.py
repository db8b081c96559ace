"""What `holdfast check` reports about commits, standbys and archived WAL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.service.store.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.service.store.postgresql.connection import Connection

    Rows: TypeAlias = Sequence[Mapping[str, Any]]

_DURABLE = ("on", "remote_apply")
_NAMED = re.compile(r"^\s*(?:(?:FIRST|ANY)?\s*\d+\s*\()?(?P<names>[^()]*)\)?\s*$", re.IGNORECASE)

_COMMIT = "SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'"  # the server's, or the role's
_STANDBYS = "SELECT application_name, state, sync_state FROM pg_stat_replication"
_SLOTS = "SELECT slot_name, active FROM pg_replication_slots WHERE slot_type = 'physical'"
_ARCHIVER = (
    "SELECT failed_count, coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS fails"
    " FROM pg_stat_archiver"
)


async def replication_findings(connection: Connection, *, pooled: bool) -> list[Finding]:
    """Return the findings about commits, standbys, slots and the archive, in that order."""
    names = ("synchronous_standby_names", "max_slot_wal_keep_size", "archive_mode")
    wanted, limit, archive = [await connection.fetchval("SELECT current_setting($1)", name) for name in names]
    commit = await connection.fetchval(_COMMIT)
    standbys = [dict(row) for row in await connection.fetch(_STANDBYS)]
    slots = [dict(row) for row in await connection.fetch(_SLOTS)]
    archiver = await connection.fetchrow(_ARCHIVER)
    return [
        commits(commit, wanted, standbys) if pooled or commit in _DURABLE else overridden(commit, wanted, standbys),
        *absent_standbys(wanted, standbys),
        *slots_without_standby(slots, limit),
        archived(archive, fails=bool(archiver and archiver["fails"])),
    ]


def commits(commit: str, names: str, standbys: Rows) -> Finding:
    """Check that acknowledged writes survive the loss of the server, and that no commit waits for a lost standby."""
    found = f"synchronous_commit {commit}"
    if commit not in (*_DURABLE, "local", "remote_write"):
        fix = "set synchronous_commit to on: answered writes are lost when the server crashes"
        return Finding("commits", "error", found, fix)
    if not names:
        fix = "name a standby in synchronous_standby_names: without it a fail-over loses the latest answered writes"
        return Finding("commits", "note", f"{found}, no synchronous standby", fix)
    if commit not in _DURABLE:
        fix = "set synchronous_commit to on: a fail-over to the standby loses answered writes"
        return Finding("commits", "error", f"{found}, standbys named", fix)
    present = sorted(row["application_name"] for row in standbys if row["sync_state"] in {"sync", "quorum"})
    if not present:
        fix = "start the standby, or empty synchronous_standby_names and reload: until then every write answers 503"
        return Finding("commits", "error", f"{found}, no synchronous standby is connected", fix)
    return Finding("commits", "ok", f"{found}, synchronous to {', '.join(present)}")


def overridden(commit: str, names: str, standbys: Rows) -> Finding:
    """Report a server's setting that the service's own connections replace by `on`."""
    own = commits("on", names, standbys)
    if own.state == "error":
        return own
    return Finding("commits", "note", f"synchronous_commit {commit}; the service's connections set on", "set it to on")


def absent_standbys(names: str, standbys: Rows) -> list[Finding]:
    """Report configured standbys that are not streaming while others are: losing another may stop all writes."""
    matched = _NAMED.match(names)
    wanted = {name.strip().strip('"') for name in (matched["names"] if matched else "").split(",")} - {"", "*"}
    streaming = {row["application_name"] for row in standbys if row["state"] == "streaming"}
    absent = sorted(wanted - streaming)
    if not absent or absent == sorted(wanted):  # all of them: `commits` says so
        return []
    fix = "start it: when the next standby is lost, every write answers 503"
    return [Finding("standbys", "note", f"named and not streaming: {', '.join(absent)}", fix)]


def slots_without_standby(slots: Rows, limit: str) -> list[Finding]:
    """Report replication slots without a reader, for which the server retains WAL."""
    idle = sorted(row["slot_name"] for row in slots if not row["active"])
    if not idle:
        return []
    fix = "start the standby, or SELECT pg_drop_replication_slot(…): WAL is kept for it"
    if limit == "-1":
        return [
            Finding(
                "replication slots", "error", f"nothing reads {', '.join(idle)}, max_slot_wal_keep_size -1",
                f"{fix} until the disk is full; set max_slot_wal_keep_size",
            )
        ]  # fmt: skip
    return [Finding("replication slots", "note", f"nothing reads {', '.join(idle)}", f"{fix} up to {limit}")]


def archived(mode: str, *, fails: bool) -> Finding:
    """Check that WAL is archived, so that the database can be restored to any point in time."""
    if mode == "off":
        fix = "archive WAL, so that the database can be restored to any moment (docs/postgresql.md, Backups)"
        return Finding("archive", "note", "archive_mode off", fix)
    if fails:
        fix = "see archive_command and the server's log: WAL piles up on its disk, and no later moment can be restored"
        return Finding("archive", "error", f"archive_mode {mode}, the latest attempt failed", fix)
    return Finding("archive", "ok", f"archive_mode {mode}")
