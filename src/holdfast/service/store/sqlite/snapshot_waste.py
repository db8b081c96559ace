"""Removes expired uploads, pins, tokens and revocations, and blocks that nothing needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.limits import CLOCK_MARGIN_S
from holdfast.rules.snapshot_quotas import FAILED_RETENTION_S, ORPHANS_RETENTION_S, QUEUED_RETENTION_S
from holdfast.service.store.sqlite.snapshot_pins import drop_unheld
from holdfast.service.store.sqlite.standing import IS_REGISTERED
from holdfast.service.store.sqlite.upkeep import remove

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

_ORPHANS_AT_ONCE = 20  # each with all its snapshots
_NO_NUMBER = 2**53  # rows are numbered below this
_UNHELD = (
    "NOT EXISTS (SELECT 1 FROM snapshot_links l WHERE l.block_id = b.id)"
    " AND NOT EXISTS (SELECT 1 FROM snapshot_upload_blocks u WHERE u.block_id = b.id)"
)


def expire(connection: Connection, now: float, most: int) -> int:
    """Remove expired rows and mark unneeded blocks as garbage, `most` of each kind; return how many were handled."""
    expired = (
        ("snapshot_uploads", "upload", "expires_at < ?", now),
        ("snapshot_tokens", "token, kind", "until < ?", now - CLOCK_MARGIN_S),
        ("snapshot_revocations", "did, cid", "until < ?", now - CLOCK_MARGIN_S),
        ("snapshot_pins", "id", "state = 'failed' AND created_us < ?", float(_us(now - FAILED_RETENTION_S))),
    )
    gone = sum(remove(connection, *kind, most) for kind in expired)
    gone += connection.execute(
        "UPDATE snapshot_pins SET state = 'failed' WHERE id IN (SELECT id FROM snapshot_pins"
        " WHERE state = 'queued' AND created_us < ? LIMIT ?)",
        (_us(now - QUEUED_RETENTION_S), most),
    ).rowcount
    gone += _drop_held_in_vain(connection, now, most) + _drop_orphans(connection, now, most)
    return gone + _name_garbage(connection, most)


def _drop_orphans(connection: Connection, now: float, most: int) -> int:
    """Remove what DIDs without a registered credential have stored; return how many DIDs were looked at."""
    connection.execute(
        "UPDATE snapshot_orphans SET since = ? WHERE did IN (SELECT did FROM snapshot_orphans WHERE since = 0 LIMIT ?)",
        (now, most),
    )
    rows = connection.execute(
        "SELECT did FROM snapshot_orphans WHERE since > 0 AND since < ? LIMIT ?",
        (now - ORPHANS_RETENTION_S, _ORPHANS_AT_ONCE),
    ).fetchall()
    for (did,) in rows:
        if connection.execute(IS_REGISTERED, (did,)).fetchone() is None:
            drop_all(connection, did)
        connection.execute("DELETE FROM snapshot_orphans WHERE did = ?", (did,))
    return len(rows)


def drop_all(connection: Connection, did: str) -> tuple[int, int]:
    """Remove a DID's record, pins and snapshots; return how many snapshots and pins."""
    connection.execute(
        "DELETE FROM snapshot_names WHERE did = ? AND name IN (SELECT publisher FROM snapshot_roots WHERE did = ?)",
        (did, did),
    )
    pins = connection.execute("DELETE FROM snapshot_pins WHERE did = ?", (did,)).rowcount
    return connection.execute("DELETE FROM snapshot_roots WHERE did = ?", (did,)).rowcount, pins


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
    """Ensure that new rows of blocks get numbers above `highest` (SQLite documentation: AUTOINCREMENT)."""
    statement = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'snapshot_blocks'"
    if connection.execute(statement, (highest,)).rowcount == 0:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('snapshot_blocks', ?)", (highest,))


def collected(connection: Connection, keys: Sequence[str]) -> None:
    """Remove deleted objects from the list of garbage."""
    connection.executemany("DELETE FROM snapshot_garbage WHERE object = ?", [(key,) for key in keys])


def _drop_held_in_vain(connection: Connection, now: float, most: int) -> int:
    """Remove snapshots that were not pinned in time; one that has a pin stays."""
    rows = connection.execute(
        "SELECT did, cid FROM snapshot_roots WHERE held_until > 0 AND held_until <= ? LIMIT ?", (now, most)
    ).fetchall()
    gone = sum(drop_unheld(connection, did, cid, now) for did, cid in rows)
    connection.executemany("UPDATE snapshot_roots SET held_until = 0 WHERE did = ? AND cid = ?", rows)
    return gone


def _name_garbage(connection: Connection, most: int) -> int:
    """Mark blocks that have lost their last holder as garbage; return how many blocks were looked at."""
    loose = connection.execute("SELECT block_id FROM snapshot_loose LIMIT ?", (most,)).fetchall()
    connection.executemany(
        "INSERT OR IGNORE INTO snapshot_garbage SELECT b.cid || '.' || b.id FROM snapshot_blocks b"  # noqa: S608 - our own condition
        f" WHERE b.id = ? AND {_UNHELD}",
        loose,
    )
    connection.executemany(f"DELETE FROM snapshot_blocks AS b WHERE b.id = ? AND {_UNHELD}", loose)  # noqa: S608 - our own condition
    connection.executemany("DELETE FROM snapshot_loose WHERE block_id = ?", loose)
    return len(loose)


def _parts(name: str) -> tuple[str, str]:
    cid, _, number = name.rpartition(".")
    return cid, number


def _us(seconds: float) -> int:
    return int(seconds * 1_000_000)
