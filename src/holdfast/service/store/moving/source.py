"""Reads the rows of the embedded database in PostgreSQL's form and order."""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing, contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

from holdfast.rules.shards import shard_of
from holdfast.service.store.database import InUse
from holdfast.service.store.history import IN_ONE_MOMENT
from holdfast.service.store.moving.recoveries import RECOVERY_TABLES
from holdfast.service.store.moving.snapshots import SNAPSHOT_TABLES
from holdfast.service.store.moving.tables import MovedTable
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.registration_columns import COLUMNS
from holdfast.service.store.sqlite.hashes import unpack_hash
from holdfast.service.store.sqlite.moved import mark
from holdfast.service.store.sqlite.schema import connect, migrate
from holdfast.wire.sqlite_errors import error_words, is_in_use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = tuple[Any, ...]
_VERSION_7 = 7 << 76
_VARIANT = 2 << 62
# A registration's columns without those of its key, and the expressions that read them.
_REGISTRATION = {name: f"c.{name}" for name in COLUMNS if name not in {"channel", "credential"}}
_REGISTRATION["tx_hash"] = "unpack_hash(c.tx_hash)"

TABLES = (
    MovedTable(
        "identifiers",
        ("shard", "channel", "key", "given", "did", "stage", "ip", "created_at", "registered_at", "in_audit",
         "signed"),
        3,
        "SELECT shard_of(channel, key) AS shard, channel, key, CASE given WHEN '' THEN key ELSE given END, did, stage,"
        " ip, created_at, registered_at, in_audit, signed FROM identifiers ORDER BY 1, 2, 3",
        booleans=("in_audit", "signed"),
    ),
    MovedTable(
        "credentials",
        ("shard", "channel", "key", "credential", "credential_shard", "in_audit", *_REGISTRATION),
        4,
        "SELECT shard_of(i.channel, i.key), i.channel, i.key, credential, shard_of(credential), c.in_audit,"  # noqa: S608 - our own names
        f" {', '.join(_REGISTRATION.values())} FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id"
        " ORDER BY 1, 2, 3, 4",
        booleans=("in_audit", "signed"),
    ),
    MovedTable(
        "credential_places",
        ("shard", "credential", "identifier_shard", "channel", "key"),
        2,
        "SELECT shard_of(credential), credential, shard_of(i.channel, i.key), i.channel, i.key"
        " FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id"
        " WHERE confirmation <> 'refused' ORDER BY 1, 2",
    ),
    MovedTable(
        "codes",
        (
            "shard", "channel", "key", "id", "digest", "sent_at", "expires_at", "ip", "attempts",
            "attempts_by_others", "same_until",
        ),
        3,
        "SELECT shard_of(channel, key), channel, key, id, digest, sent_at, expires_at, ip, attempts,"
        " attempts_by_others, same_until FROM codes ORDER BY 1, 2, 3",
    ),
    MovedTable(
        "windows",
        ("shard", "what", "subject", "ids", "times", "last_at", "counts", "id_ats"),
        3,
        "SELECT shard_of(what, subject), what, subject, id, at, NULL FROM charges ORDER BY 1, 2, 3, id",
    ),
    MovedTable(
        "verifications",
        ("shard", "channel", "key", "verified_at"),
        3,
        "SELECT shard_of(channel, key), channel, key, verified_at FROM verifications ORDER BY 1, 2, 3",
    ),
    MovedTable(
        "used_attestations",
        ("shard", "signature", "expires_at"),
        2,
        "SELECT shard_of(signature), signature, expires_at FROM used_attestations ORDER BY 1, 2",
    ),
    MovedTable(
        "ip_counters",
        ("shard", "ip", "registrations"),
        2,
        "SELECT shard_of(ip), ip, registrations FROM ip_counters ORDER BY 1, 2",
    ),
    MovedTable(
        "idempotent_responses",
        ("shard", "key", "body", "answer", "code_id", "attempt", "leased_until", "expires_at"),
        2,
        "SELECT shard_of(key), key, body, answer, code_id, attempt, leased_until, expires_at"
        " FROM idempotent_responses ORDER BY 1, 2",
    ),
    MovedTable(
        "outbox",
        ("shard", "id", "receiver", "at", "action", "channel", "key", "did", "tries", "due_at"),
        2,
        "SELECT shard_of(channel, key), id, receiver, at, action, channel, key, did, tries, due_at FROM outbox"
        " ORDER BY 1, 2",
    ),
    *SNAPSHOT_TABLES,
    *RECOVERY_TABLES,
    MovedTable("bans", ("subject", "at", "reason"), 1, "SELECT subject, at, reason FROM bans ORDER BY 1"),
    MovedTable(
        "admin_keys",
        ("name", "digest", "scopes", "made_at", "revoked_at"),
        1,
        "SELECT name, digest, scopes, made_at, revoked_at FROM admin_keys ORDER BY 1",
    ),
    MovedTable(
        "invitations",
        ("number", "uses", "expires_at", "made_at", "revoked_at"),
        1,
        "SELECT number, uses, expires_at, made_at, revoked_at FROM invitations ORDER BY 1",
    ),
    MovedTable(
        "sponsorships",
        ("shard", "chain", "sender", "nonce", "day", "gwei", "subjects", "valid_until", "block"),
        4,
        "SELECT shard_of(CAST(chain AS TEXT)), chain, sender, nonce, day, gwei, subjects, valid_until, block"
        " FROM sponsorships ORDER BY 1, 2, 3, 4",
    ),
    MovedTable(
        "sponsor_days",
        ("shard", "chain", "day", "subject", "gwei"),
        4,
        "SELECT shard_of(CAST(chain AS TEXT)), chain, day, subject, gwei FROM sponsor_days ORDER BY 1, 2, 3, 4",
    ),
    MovedTable("totals", ("name", "slot", "value"), 2, "SELECT name, 0, value FROM totals ORDER BY 1, 2"),
    MovedTable(
        "audit",
        ("shard", "channel", "key", "id", "at", "action", "did", "operator"),
        4,
        "SELECT shard_of(channel, key), channel, key, audit_id(at, action, id), at, action, did, operator FROM audit"
        " ORDER BY 1, 2, 3, 4",
    ),
)  # fmt: skip


class SourceDatabase:
    """Reads a database file as of one moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.create_function("shard_of", -1, shard_of, deterministic=True)
        connection.create_function("unpack_hash", 1, unpack_hash, deterministic=True)
        connection.create_function("audit_id", 3, _audit_id, deterministic=True)

    def mark_moved(self) -> None:
        """Mark the file as moved and end the transaction in which it was read. It must have been opened alone."""
        mark(self._connection, moved=True)
        self._connection.execute("COMMIT")

    def count(self, table: MovedTable) -> int:
        """Return how many rows the source provides for the target's table."""
        if table.name == "windows":
            statement = "SELECT count(*) FROM (SELECT DISTINCT what, subject FROM charges)"
        elif table.gathers:
            statement = f"SELECT count(*) FROM {table.name}"  # noqa: S608 - our own names
        else:
            statement = f"SELECT count(*) FROM ({table.query})"  # noqa: S608 - our own queries
        return int(self._connection.execute(statement).fetchone()[0])

    def rows(self, table: MovedTable) -> Iterator[Row]:
        """Yield the table's rows, ordered by key."""
        cursor = self._connection.execute(table.query)
        if table.name == "windows":
            return _windows(cursor)
        if table.name == "outbox":
            return ((row[0], uuid.UUID(row[1]), *row[2:]) for row in cursor)
        if table.name == "audit":
            return ((*row[:3], uuid.UUID(row[3]), *row[4:]) for row in cursor)
        if table.gathers:
            return _gathered(cursor, table.keys)
        return _with_booleans(cursor, [table.columns.index(name) for name in table.booleans])


def bring_up_to_date(file: Path) -> None:
    """Migrate the source to this release's schema. Raises SchemaTooNew or StoreUnavailable."""
    try:
        with closing(connect(file)) as connection:
            migrate(connection)
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(f"{file.name}: {error_words(error, file)}") from error


@contextmanager
def opened(file: Path, *, alone: bool) -> Iterator[SourceDatabase]:
    """Open the source for reading, in its current state.

    With `alone`, open it exclusively, and raise InUse if another process has it open.
    """
    with closing(connect(file)) as connection:
        if alone:
            try:
                connection.execute("PRAGMA busy_timeout = 200")
                connection.execute("PRAGMA journal_mode = DELETE")  # fails if there is any other connection to the file
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                if not is_in_use(error):
                    raise StoreUnavailable(f"{file.name}: {error_words(error, file)}") from error
                raise InUse(str(error)) from error
        else:
            connection.execute("BEGIN")
        yield SourceDatabase(connection)


def _audit_id(at: float, action: str, number: int) -> str:
    """Return a time-ordered identifier (RFC 9562, UUIDv7) for a row of the audit.

    Args:
        at: when, in seconds since the epoch.
        action: determines the order of rows within one millisecond.
        number: its row number in the source, which makes it unique.
    """
    index = 1 + IN_ONE_MOMENT.index(action) if action in IN_ONE_MOMENT else 0  # an operator's act before what it ends
    return str(uuid.UUID(int=int(at * 1000) << 80 | _VERSION_7 | index << 64 | _VARIANT | number))


def _windows(events: Iterator[Row]) -> Iterator[Row]:
    """Combine the rows of a window's events into one row for each window."""
    key: Row | None = None
    ids: list[int] = []
    times: list[float] = []
    for shard, what, subject, number, at, _ in events:
        if key is not None and key != (shard, what, subject):
            yield (*key, ids, times, max(times), [1] * len(ids), times)
            ids, times = [], []
        key = (shard, what, subject)
        ids.append(number)
        times.append(at)
    if key is not None:
        yield (*key, ids, times, max(times), [1] * len(ids), times)


def _gathered(elements: Iterator[Row], keys: int) -> Iterator[Row]:
    """Combine the rows of each key into one row, whose last column is the list of their last values, without None."""
    for _, group in groupby(elements, lambda row: row[:keys]):
        rows = list(group)
        yield (*rows[0][:-1], [row[-1] for row in rows if row[-1] is not None])


def _with_booleans(rows: Iterator[Row], positions: list[int]) -> Iterator[Row]:
    if not positions:
        return rows
    return (tuple(bool(value) if n in positions else value for n, value in enumerate(row)) for row in rows)
