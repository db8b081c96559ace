"""Counts events in sliding windows: sent codes, checks and other requests, by address, number and country."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.quotas import admit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from sqlite3 import Connection

    from holdfast.rules.quotas import Counted, Quota

_Rows = tuple[int, int]


def charge(connection: Connection, quotas: Sequence[Quota], now: float) -> _Rows:
    """Count one event in all these windows. If a window is full, raises Refused(RATE_LIMITED) and counts nothing.

    Returns the numbers of the first and the last row written. The rows of a charge have consecutive numbers, and no
    number is used twice.
    """
    admit([(quota, at) for quota in quotas for full, at in [_full(connection, quota, now)] if full], now)
    ids = [_count(connection, quota, now) for quota in quotas]
    return (ids[0], ids[-1]) if ids else (1, 0)


def give_back(connection: Connection, reservation: object, what: Collection[Counted]) -> None:
    """Remove a counted event from its windows of these kinds."""
    assert isinstance(reservation, tuple), "a charge of this store"
    connection.executemany(
        "DELETE FROM charges WHERE id BETWEEN ? AND ? AND what = ?", [(*reservation, kind.value) for kind in what]
    )


def _count(connection: Connection, quota: Quota, now: float) -> int:
    statement = "INSERT INTO charges (what, subject, at) VALUES (?, ?, ?)"
    return int(connection.execute(statement, (quota.what.value, quota.subject, now)).lastrowid or 0)


def _full(connection: Connection, quota: Quota, now: float) -> tuple[bool, float | None]:
    """Return whether the window is full, and the time of the event whose expiry will make room."""
    if quota.limit == 0:
        return True, None
    row = connection.execute(
        "SELECT at FROM charges WHERE what = ? AND subject = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?",
        (quota.what.value, quota.subject, now - quota.window_s, quota.limit - 1),
    ).fetchone()
    return (False, None) if row is None else (True, row[0])
