"""Writes pins, used tokens, revocations and IPNS records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.pin_rows import pin_of
from holdfast.service.store.snapshot_index import StoredRecord
from holdfast.wire.failures import ANOTHER_DID, TOKEN_USED, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.rules.pins import Pin
    from holdfast.service.store.snapshot_index import NewPin, NewRecord, TokenUse

PIN = (
    "SELECT p.request_id, p.did, p.cid, p.name, p.origins, p.meta, p.state, p.created_us, r.size"
    " FROM snapshot_pins p LEFT JOIN snapshot_roots r ON r.cid = p.cid AND r.did = p.did"
)
RECORD = "SELECT did, root, sequence, validity_ns, ttl_ns, record FROM snapshot_names WHERE name = ?"


def record_of(row: tuple[str, str, int, int, int, bytes]) -> StoredRecord:
    """Convert a row of RECORD."""
    return StoredRecord(row[0], row[1], row[2], int(row[3]), row[4], row[5])


def use_token(connection: Connection, use: TokenUse, made: str) -> str | None:
    """Record what a token creates; if the token has created the same before, return its ID.

    Raises SnapshotRefused(TOKEN_USED).
    """
    row = connection.execute(
        "SELECT what, made FROM snapshot_tokens WHERE token = ? AND kind = ?", (use.token, use.kind)
    ).fetchone()
    if row is None:
        values = (use.token, use.kind, use.what, made, use.until)
        connection.execute("INSERT INTO snapshot_tokens VALUES (?, ?, ?, ?, ?)", values)
        return None
    if row[0] != use.what:
        raise SnapshotRefused(TOKEN_USED)
    return str(row[1])


def add(connection: Connection, pin: NewPin, use: TokenUse, admit: Callable[[Usage], None]) -> Pin | None:
    """Write a pin, in place of the pin that it replaces or that an import created."""
    known = connection.execute(
        "SELECT what, made FROM snapshot_tokens WHERE token = ? AND kind = ?", (use.token, use.kind)
    ).fetchone()
    if known is not None:
        return _again(connection, pin.did, use, known)
    if pin.replaces is not None and _one(connection, pin.did, pin.replaces) is None:
        return None
    pinned = _is_stored(connection, pin)
    _admit(connection, pin, admit)
    use_token(connection, use, pin.request_id)
    request, gone = pin.request, _take_out(connection, pin)
    values = (pin.request_id, pin.did, request.cid, request.name, _json(request.origins), _json(request.meta))
    insert_pin(connection, (*values, "pinned" if pinned else "queued"), pin.now, by_import=False)
    for cid in gone:
        drop_unheld(connection, pin.did, cid, pin.now)
    return _one(connection, pin.did, pin.request_id)


def insert_pin(connection: Connection, values: tuple[object, ...], now: float, *, by_import: bool) -> None:
    """Write a pin's row, with a timestamp that no other pin of its DID has."""
    connection.execute(
        "INSERT INTO snapshot_pins (request_id, did, cid, name, origins, meta, state, created_us, by_import)"
        " SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7,"
        " max(?8, coalesce((SELECT max(created_us) FROM snapshot_pins WHERE did = ?2), 0) + 1), ?9",
        (*values, int(now * 1_000_000), by_import),
    )


def remove(connection: Connection, did: str, request_id: str, now: float) -> bool:
    """Remove a pin, and its snapshot if nothing else needs it."""
    gone = connection.execute(
        "DELETE FROM snapshot_pins WHERE did = ? AND request_id = ? RETURNING cid", (did, request_id)
    ).fetchone()
    if gone is None:
        return False
    drop_unheld(connection, did, gone[0], now)
    return True


def drop_unheld(connection: Connection, did: str, cid: str, now: float) -> int:
    """Remove a DID's snapshot that has no pin and is no longer stored without one; return how many were removed."""
    return connection.execute(
        "DELETE FROM snapshot_roots WHERE did = ? AND cid = ? AND held_until <= ? AND NOT EXISTS"
        " (SELECT 1 FROM snapshot_pins p WHERE p.cid = snapshot_roots.cid AND p.state = 'pinned')",
        (did, cid, now),
    ).rowcount


def revoke(connection: Connection, did: str, cid: str, now: float, until: float) -> None:
    """Store a revocation; revoking all tokens again moves the stored time forward."""
    connection.execute(
        "INSERT INTO snapshot_revocations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
        " SET before = max(before, excluded.before), until = max(until, excluded.until)",
        (did, cid, now, until),
    )


def publish(connection: Connection, record: NewRecord, decide: Callable[[StoredRecord | None], bool]) -> bool:
    """Store a record if its key may publish this snapshot and `decide` agrees."""
    owner = connection.execute(
        "SELECT r.did FROM snapshot_roots r WHERE r.cid = ? AND r.publisher = ? AND EXISTS"
        " (SELECT 1 FROM snapshot_pins p WHERE p.cid = r.cid AND p.did = r.did AND p.state = 'pinned')",
        (record.root, record.name),
    ).fetchone()
    row = connection.execute(RECORD, (record.name,)).fetchone()
    stored = record_of(row) if row else None
    if owner is None or (stored is not None and stored.did != owner[0]):
        return False
    if decide(stored):
        connection.execute(
            "INSERT OR REPLACE INTO snapshot_names (name, did, root, sequence, validity_ns, ttl_ns, record, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(record.name, owner[0], record.root, record.sequence, str(record.validity_ns), record.ttl_ns),
                *(record.data, record.now),
            ),
        )
    return True


def _again(connection: Connection, did: str, use: TokenUse, known: tuple[str, str]) -> Pin:
    """Return the pin that an earlier, identical request with this token created."""
    found = _one(connection, did, known[1]) if known[0] == use.what else None
    if found is None:
        raise SnapshotRefused(TOKEN_USED)
    return found


def _one(connection: Connection, did: str, request_id: str) -> Pin | None:
    row = connection.execute(f"{PIN} WHERE p.did = ? AND p.request_id = ?", (did, request_id)).fetchone()
    return pin_of(row) if row else None


def _is_stored(connection: Connection, pin: NewPin) -> bool:
    """Return whether the snapshot is stored here. Raises SnapshotRefused if it belongs to another DID."""
    row = connection.execute("SELECT did FROM snapshot_roots WHERE cid = ?", (pin.request.cid,)).fetchone()
    if row is not None and row[0] != pin.did:
        raise SnapshotRefused(ANOTHER_DID)
    return row is not None


_MAKES_WAY = "did = ? AND (request_id = ? OR (cid = ? AND by_import = 1))"


def _admit(connection: Connection, pin: NewPin, admit: Callable[[Usage], None]) -> None:
    """Apply the rule to the number of pins that remain after the replacement."""
    given = (pin.did, pin.replaces or "", pin.request.cid)  # a NULL would make the whole condition one
    (stay,) = connection.execute(
        f"SELECT count(*) FROM snapshot_pins WHERE did = ? AND state <> 'failed' AND NOT ({_MAKES_WAY})",  # noqa: S608 - our own condition
        (pin.did, *given),
    ).fetchone()
    admit(Usage(0, 0, stay, 0))


def _take_out(connection: Connection, pin: NewPin) -> list[str]:
    """Remove the pins that are replaced; return their CIDs."""
    rows = connection.execute(
        f"DELETE FROM snapshot_pins WHERE {_MAKES_WAY} RETURNING cid",  # noqa: S608 - our own condition
        (pin.did, pin.replaces or "", pin.request.cid),
    ).fetchall()
    return [cid for (cid,) in rows]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
