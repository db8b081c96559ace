"""What operators look at and change in the embedded store."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S
from holdfast.service.store.administration import Act, Ban, DayCount, Listed, key_range, time_range
from holdfast.service.store.sqlite import audit, claims, persons
from holdfast.service.store.sqlite.operator_records import SqliteOperatorRecords
from holdfast.service.store.sqlite.standing import INDEXED, of_did

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.administration import By, Scan
    from holdfast.service.store.persons import Removal, Removed

_CREDENTIALS = "(SELECT count(*) FROM credentials AS c WHERE c.identifier_id = i.id AND c.confirmation = '{}')"
_LISTED = (
    "SELECT i.channel, i.key, CASE i.given WHEN '' THEN i.key ELSE i.given END, i.did, i.stage, i.ip, i.created_at,"
    f" i.registered_at, {_CREDENTIALS.format('confirmed')}, {_CREDENTIALS.format('pending')} FROM identifiers AS i"
)
BY_KEY = (
    f"{_LISTED} WHERE i.channel = ? AND i.key >= ? AND i.key < ? AND i.created_at >= ?"
    " AND i.created_at < ? ORDER BY i.key LIMIT ?"
)
_NEWEST_FIRST = (
    "i.created_at >= ? AND i.created_at <= ? AND (i.created_at, i.channel, i.key) < (?, ?, ?)"
    " ORDER BY i.created_at DESC, i.channel DESC, i.key DESC LIMIT ?"
)
NEWEST = f"{_LISTED} WHERE {_NEWEST_FIRST}"
# Registered handles are found by their credentials, sessions and addresses by their own index.
OF_DID = (
    f"{_LISTED} WHERE i.did = ?1 AND i.id IN (SELECT identifier_id FROM credentials WHERE {of_did('did')}"
    f" UNION SELECT id FROM identifiers WHERE {INDEXED} AND {of_did('did')}) AND {_NEWEST_FIRST}"
)
_DIGITS = 19  # of the first integer that SQLite may not hold
COUNT = (
    f"SELECT CAST(created_at / {DAY_S} AS INTEGER), channel, count(*), sum(stage = 'registered') FROM identifiers"
    " WHERE created_at >= ? AND created_at < ? GROUP BY 1, 2 ORDER BY 1, 2"
)
ACTS = (
    f"SELECT {', '.join(Act._fields)} FROM audit WHERE operator IS NOT NULL AND (at, id) < (?, ?)"
    " ORDER BY at DESC, id DESC LIMIT ?"
)
BANS = f"SELECT {', '.join(Ban._fields)} FROM bans WHERE subject > ? ORDER BY subject LIMIT ?"


class SqliteAdministration(SqliteOperatorRecords):
    """Implements Administration."""

    async def scan(self, scan: Scan, limit: int) -> list[Listed]:
        """See Administration."""
        statement, values = query_of(scan, limit)
        return [Listed(*row) for row in await self._rows(statement, *values)]

    async def count_day(self, since: float, until: float) -> list[DayCount]:
        """See Administration."""
        return [DayCount(*row) for row in await self._rows(COUNT, since, until)]

    async def acts(self, after: tuple[float, str] | None, limit: int) -> list[Act]:
        """See Administration."""
        at, number = after or (1e12, "0")
        last = int(number) if number.isdecimal() and len(number) < _DIGITS else 0
        return [Act(str(row[0]), *row[1:]) for row in await self._rows(ACTS, at, last, limit)]

    async def bans(self, after: str, limit: int) -> list[Ban]:
        """See Administration."""
        return [Ban(*row) for row in await self._rows(BANS, after, limit)]

    async def ban(self, subject: str, reason: str, by: By) -> bool:
        """See Administration."""
        return await self._write(by, _ban, subject, reason, by.now)

    async def lift(self, subject: str, by: By) -> bool:
        """See Administration."""
        return await self._write(by, _lift, subject, by.now)

    async def release(self, channel: str, key: str, by: By) -> bool:
        """See Administration."""
        return await self._write(by, claims.release, channel, key, by.now)

    async def revoke(self, credential: str, by: By) -> bool:
        """See Administration."""
        return await self._write(by, claims.revoke_credential, credential, by.now)

    async def transfer(self, channel: str, key: str, did: str, by: By) -> bool:
        """See Administration."""
        return await self._write(by, _transfer, channel, key, did, by.now)

    async def rename(self, channel: str, key: str, new: Identifier, by: By) -> bool:
        """See Administration."""
        return await self._write(by, _rename, channel, key, new, by.now)

    async def erase(self, removal: Removal, by: By) -> Removed:
        """See Administration."""
        return await self._write(by, _erase, removal)


def query_of(scan: Scan, limit: int) -> tuple[str, tuple[object, ...]]:
    """Return the statement that reads what a scan says, and its parameters."""
    if scan.did is not None:
        return OF_DID, (scan.did, *time_range(scan), limit)
    if scan.prefix is not None:
        return BY_KEY, (scan.channel, *key_range(scan, scan.prefix), scan.since, scan.until, limit)
    return NEWEST, (*time_range(scan), limit)


def _ban(connection: Connection, subject: str, reason: str, now: float) -> bool:
    written = connection.execute("INSERT OR IGNORE INTO bans VALUES (?, ?, ?)", (subject, now, reason)).rowcount
    if written:
        audit.note_key(connection, "banned", "", subject, None, now)
    return bool(written)


def _lift(connection: Connection, subject: str, now: float) -> bool:
    gone = connection.execute("DELETE FROM bans WHERE subject = ?", (subject,)).rowcount
    if gone:
        audit.note_key(connection, "ban_lifted", "", subject, None, now)
    return bool(gone)


def _erase(connection: Connection, removal: Removal) -> Removed:
    audit.note_key(connection, "erased", "", removal.pseudonyms.of_did(removal.did), None, removal.now)
    return persons.take_back(connection, removal)


def _transfer(connection: Connection, channel: str, key: str, did: str, now: float) -> bool:
    row = connection.execute(
        "SELECT id FROM identifiers WHERE channel = ? AND key = ? AND did <> ?", (channel, key, did)
    ).fetchone()
    if row is None:
        return False
    connection.execute("DELETE FROM credentials WHERE identifier_id = ?", row)
    connection.execute(
        "UPDATE identifiers SET did = ?, stage = 'session', registered_at = NULL, in_audit = 1, signed = 0"
        " WHERE id = ?",
        (did, *row),
    )
    audit.note_key(connection, "transferred", channel, key, did, now)
    return True


def _rename(connection: Connection, channel: str, key: str, new: Identifier, now: float) -> bool:
    row = connection.execute(
        "SELECT id, did FROM identifiers AS i WHERE channel = ? AND key = ? AND NOT EXISTS"
        " (SELECT 1 FROM credentials WHERE identifier_id = i.id AND confirmation = 'pending')"
        " AND NOT EXISTS (SELECT 1 FROM identifiers WHERE channel = ? AND key = ?)",
        (channel, key, channel, new.key),
    ).fetchone()
    if row is None:
        return False
    for view in ("sessions_standing", "registrations_standing"):
        connection.execute(
            f"INSERT INTO audit (at, action, channel, key, did) SELECT at, action, channel, key, did FROM {view}"
            " WHERE identifier_id = ?",
            row[:1],
        )
    given = "" if new.given == new.key else new.given
    connection.execute("UPDATE identifiers SET key = ?, given = ?, in_audit = 1 WHERE id = ?", (new.key, given, row[0]))
    connection.execute(
        "UPDATE credentials SET identifier = ?, in_audit = 1 WHERE identifier_id = ?", (new.given, row[0])
    )
    for name in (key, new.key):
        audit.note_key(connection, "renamed", channel, name, row[1], now)
    return True
