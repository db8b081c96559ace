"""Removes expired uploads, pins, tokens and revocations, and blocks that nothing needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S
from holdfast.rules.snapshot_quotas import QUEUED_KEPT_S
from holdfast.service.store.sqlite.snapshot_pins import drop_unheld

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

_FAILED_KEPT_S = 7 * DAY_S
_NO_NUMBER = 2**53  # rows are numbered below this
_MARGIN_S = 3600  # so that a clock that is set back still finds the rows that it expects
_UNHELD = (
    "NOT EXISTS (SELECT 1 FROM snapshot_links l WHERE l.block_id = b.id)"
    " AND NOT EXISTS (SELECT 1 FROM snapshot_upload_blocks u WHERE u.block_id = b.id)"
)


def expire(connection: Connection, now: float) -> int:
    """Remove expired rows and mark unneeded blocks as garbage; return how many rows were changed."""
    statements = (
        ("DELETE FROM snapshot_uploads WHERE expires_at < ?", now),
        ("DELETE FROM snapshot_tokens WHERE until < ?", now - _MARGIN_S),
        ("DELETE FROM snapshot_revocations WHERE until < ?", now - _MARGIN_S),
        (
            "DELETE FROM snapshot_pins WHERE state = 'failed' AND created_us < ?",
            _us(now - QUEUED_KEPT_S - _FAILED_KEPT_S),
        ),
        (
            "UPDATE snapshot_pins SET state = 'failed' WHERE state = 'queued' AND created_us < ?",
            _us(now - QUEUED_KEPT_S),
        ),
    )
    gone = sum(connection.execute(statement, (limit,)).rowcount for statement, limit in statements)
    return gone + _drop_held_in_vain(connection, now) + _name_garbage(connection)


def name_strays(connection: Connection, objects: Sequence[str]) -> int:
    """Mark objects without a row as garbage, and prevent reuse of their numbers; return how many were marked."""
    named = [(cid, int(number)) for cid, number in map(_parts, objects) if number.isascii() and number.isdigit()]
    numbered = [(cid, number) for cid, number in named if number < _NO_NUMBER]
    _number_above(connection, max((number for _, number in numbered), default=0))
    known = "SELECT 1 FROM snapshot_blocks WHERE cid = ? AND id = ?"
    strays = [
        (f"{cid}.{number}",) for cid, number in numbered if not connection.execute(known, (cid, number)).fetchone()
    ]
    connection.executemany("INSERT OR IGNORE INTO snapshot_garbage VALUES (?)", strays)
    return len(strays)


def _number_above(connection: Connection, highest: int) -> None:
    """Make new rows of blocks get numbers above `highest` (SQLite documentation: AUTOINCREMENT)."""
    statement = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'snapshot_blocks'"
    if connection.execute(statement, (highest,)).rowcount == 0:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('snapshot_blocks', ?)", (highest,))


def collected(connection: Connection, keys: Sequence[str]) -> None:
    """Remove deleted objects from the list of garbage."""
    connection.executemany("DELETE FROM snapshot_garbage WHERE object = ?", [(key,) for key in keys])


def _drop_held_in_vain(connection: Connection, now: float) -> int:
    """Remove snapshots that were not pinned in time; only snapshots without a pin have a time in `held_until`."""
    rows = connection.execute(
        "SELECT cid FROM snapshot_roots WHERE held_until > 0 AND held_until <= ?", (now,)
    ).fetchall()
    gone = sum(drop_unheld(connection, now, cid) for (cid,) in rows)
    connection.executemany("UPDATE snapshot_roots SET held_until = 0 WHERE cid = ?", rows)
    return gone


def _name_garbage(connection: Connection) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO snapshot_garbage SELECT b.cid || '.' || b.id FROM snapshot_blocks b"  # noqa: S608 - our own condition
        f" WHERE b.id IN (SELECT block_id FROM snapshot_loose) AND {_UNHELD}"
    )
    gone = connection.execute(
        "DELETE FROM snapshot_blocks WHERE id IN (SELECT b.id FROM snapshot_blocks b"  # noqa: S608 - our own condition
        f" WHERE b.id IN (SELECT block_id FROM snapshot_loose) AND {_UNHELD})"
    ).rowcount
    connection.execute("DELETE FROM snapshot_loose")
    return gone


def _parts(name: str) -> tuple[str, str]:
    cid, _, number = name.rpartition(".")
    return cid, number


def _us(seconds: float) -> int:
    return int(seconds * 1_000_000)
