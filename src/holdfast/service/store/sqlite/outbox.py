"""Events that wait for their delivery, in the embedded store's file."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.events import IN_AUDIT, POSTPONED_S, subscription_of
from holdfast.service.store.outbox import Event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from holdfast.service.store.sqlite.reader import TurnReader
    from holdfast.service.store.sqlite.writer import GroupCommitWriter

_RECORD = f"""
    INSERT INTO outbox (id, receiver, at, action, channel, key, did, due_at)
    SELECT lower(hex(randomblob(16))), substr(name, {len(subscription_of("")) + 1}), {{at}}, {{action}}, new.channel,
        {{key}}, new.did, {{at}} FROM leases WHERE name >= '{subscription_of("")}' AND name < '{subscription_of("~")}'
        AND expires_at > {{at}};
"""
_ACTIONS = ", ".join(f"'{action}'" for action in IN_AUDIT)
OUTBOX_TABLES = f"""
    -- Events, one row for each receiver that has a subscription (rules/events.py).
    CREATE TABLE outbox (
        id TEXT PRIMARY KEY,
        receiver TEXT NOT NULL,
        at REAL NOT NULL,
        action TEXT NOT NULL,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        did TEXT,
        tries INTEGER NOT NULL DEFAULT 0,
        due_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX outbox_due ON outbox (receiver, due_at);
    CREATE INDEX outbox_at ON outbox (at);
    CREATE TRIGGER audit_events AFTER INSERT ON audit WHEN new.action IN ({_ACTIONS}) BEGIN
        {_RECORD.format(at="new.at", action="new.action", key="new.key")}
    END;
    CREATE TRIGGER credentials_events AFTER INSERT ON credentials BEGIN
        {_RECORD.format(
            at="new.created_at", action="'registered'",
            key="(SELECT key FROM identifiers WHERE id = new.identifier_id)",
        )}
    END;
"""  # fmt: skip
_OF_RECEIVER = "SELECT * FROM outbox WHERE receiver = ?1 AND"
_FIRST = "ORDER BY due_at, at LIMIT ?3"
_DUE = (
    f"SELECT {', '.join(Event.__struct_fields__)} FROM (SELECT * FROM ({_OF_RECEIVER} due_at <= ?2 {_FIRST})"
    f" UNION ALL SELECT * FROM ({_OF_RECEIVER} due_at > ?2 + {POSTPONED_S} {_FIRST})) {_FIRST}"
)


class SqliteOutbox:
    """Implements Outbox."""

    def __init__(self, reader: TurnReader, writer: GroupCommitWriter) -> None:
        self._read = reader
        self._writer = writer

    async def due(self, receiver: str, now: float, limit: int) -> list[Event]:
        """See Outbox."""
        return [Event(*row) for row in self._read.all(_DUE, receiver, now, limit)]

    async def settle(self, done: Sequence[Event], again: Sequence[tuple[Event, float]]) -> None:
        """See Outbox."""
        await self._writer.write(_settle, done, again)


def _settle(connection: Connection, done: Sequence[Event], again: Sequence[tuple[Event, float]]) -> None:
    connection.executemany("DELETE FROM outbox WHERE id = ?", [(event.id,) for event in done])
    later = [(due_at, event.id) for event, due_at in again]
    connection.executemany("UPDATE outbox SET tries = tries + 1, due_at = ? WHERE id = ?", later)
