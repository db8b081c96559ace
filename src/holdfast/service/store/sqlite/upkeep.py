"""Maintenance of the embedded store: deletes expired rows, and manages leases, by which one process does a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S, HOUR_S, REFUSED_KEPT_S

if TYPE_CHECKING:
    from sqlite3 import Connection

# Expired rows are kept for another hour, so that after a clock is set back the store still has the rows it needs.
_CLOCK_MARGIN_S = HOUR_S


def expire(connection: Connection, now: float) -> int:
    """Delete rows that no rule reads any more, and registrations that were refused long ago."""
    horizon = now - _CLOCK_MARGIN_S
    statements = (
        ("DELETE FROM codes WHERE expires_at < ?", horizon),
        ("DELETE FROM used_attestations WHERE expires_at < ?", horizon),
        ("DELETE FROM kept_answers WHERE expires_at < ?", horizon),
        ("DELETE FROM charges WHERE at < ?", horizon - DAY_S),
        ("DELETE FROM credentials WHERE confirmation = 'refused' AND settled_at < ?", horizon - REFUSED_KEPT_S),
        ("DELETE FROM audit WHERE action IN ('code_sent', 'refused') AND at < ?", horizon - REFUSED_KEPT_S),
    )
    return sum(connection.execute(statement, (limit,)).rowcount for statement, limit in statements)


def take_lease(connection: Connection, name: str, holder: str, now: float, ttl_s: float) -> bool:
    """Acquire a lease that is free, expired, held by this holder, or set by a wrong clock to end far too late."""
    cursor = connection.execute(
        "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
        " SET holder = excluded.holder, expires_at = excluded.expires_at"
        " WHERE holder = excluded.holder OR leases.expires_at <= ? OR leases.expires_at > ?",
        (name, holder, now + ttl_s, now, now + 10 * ttl_s),
    )
    return cursor.rowcount == 1
