"""Maintenance of the embedded store: deletes expired rows, and manages leases, which let only one process do a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.events import GIVE_UP_S
from holdfast.rules.limits import CLOCK_MARGIN_S, DAY_S, REFUSED_RETENTION_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.service.store.sqlite.writer import GroupCommitWriter

AT_ONCE = 500  # rows of one kind that a transaction removes


async def in_parts(writer: GroupCommitWriter, expire: Callable[[Connection, float, int], int], now: float) -> int:
    """Remove expired rows in several transactions, between which other writes commit; return how many rows."""
    removed = part = await writer.write(expire, now, AT_ONCE)
    while part >= AT_ONCE:
        part = await writer.write(expire, now, AT_ONCE)
        removed += part
    return removed


def expire(connection: Connection, now: float, most: int) -> int:
    """Delete rows that no rule reads any more, and registrations that were refused long ago, `most` of each kind."""
    horizon = now - CLOCK_MARGIN_S
    kinds = (
        ("codes", "id", "expires_at < ?", horizon),
        ("used_attestations", "signature", "expires_at < ?", horizon),
        ("idempotent_responses", "key", "expires_at < ?", horizon),
        ("charges", "id", "at < ?", horizon - DAY_S),
        ("credentials", "id", "confirmation = 'refused' AND settled_at < ?", now - REFUSED_RETENTION_S),
        ("audit", "id", "action IN ('code_sent', 'refused') AND at < ?", now - REFUSED_RETENTION_S),
        ("outbox", "id", "at < ?", horizon - GIVE_UP_S),
        ("invitations", "number", "expires_at < ?", horizon - DAY_S),
    )
    return sum(remove(connection, *kind, most) for kind in kinds)


def remove(connection: Connection, table: str, key: str, condition: str, limit: float, most: int) -> int:
    """Delete at most `most` rows of a table that meet a condition on one parameter; return how many."""
    statement = f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} LIMIT ?)"  # noqa: S608 - our own names
    return connection.execute(statement, (limit, most)).rowcount


def take_lease(connection: Connection, name: str, holder: str, now: float, ttl_s: float) -> bool:
    """Acquire a lease that is free, expired, held by this holder, or set by a wrong clock to end far too late."""
    cursor = connection.execute(
        "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
        " SET holder = excluded.holder, expires_at = excluded.expires_at"
        " WHERE holder = excluded.holder OR leases.expires_at <= ? OR leases.expires_at > ?",
        (name, holder, now + ttl_s, now, now + 10 * ttl_s),
    )
    return cursor.rowcount == 1


def end_lease(connection: Connection, name: str, holder: str) -> None:
    """End a lease that this holder has."""
    connection.execute("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
