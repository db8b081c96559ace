"""Snapshot uploads: reserve bytes before reading any, insert rows before storing blocks, record the stored snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.snapshot_index import BlockLocation
from holdfast.service.store.sqlite.snapshot_pins import insert_pin, use_token
from holdfast.wire.failures import ANOTHER_DID, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from sqlite3 import Connection

    from holdfast.service.store.snapshot_index import NewRoot, NewUpload, TokenUse

USAGE = (
    "SELECT (SELECT coalesce(sum(size), 0) FROM snapshot_roots WHERE did = ?),"
    " (SELECT coalesce(sum(bytes), 0) FROM snapshot_uploads WHERE did = ?),"
    " (SELECT count(*) FROM snapshot_pins WHERE did = ? AND state <> 'failed'),"
    " (SELECT count(*) FROM snapshot_roots WHERE did = ?)"
)


def usage_of(connection: Connection, did: str) -> Usage:
    """Return how much a DID stores now."""
    return Usage(*connection.execute(USAGE, [did] * 4).fetchone())


def begin(connection: Connection, upload: NewUpload, decide: Callable[[Usage], int]) -> int:
    """Reserve as many bytes as `decide` returns."""
    size = decide(usage_of(connection, upload.did))
    connection.execute(
        "INSERT INTO snapshot_uploads VALUES (?, ?, ?, ?)", (upload.upload_id, upload.did, size, upload.expires_at)
    )
    return size


def insert_blocks(
    connection: Connection, upload_id: str, blocks: Sequence[tuple[str, int]], select: str
) -> list[BlockLocation]:
    """Insert a row for each block, which the upload protects from garbage collection; return the blocks' places."""
    _require_upload(connection, upload_id)
    locations = []
    for cid, size in blocks:
        connection.execute("INSERT OR IGNORE INTO snapshot_blocks (cid, size) VALUES (?, ?)", (cid, size))
        row = connection.execute(f"{select} WHERE b.cid = ?", (cid,)).fetchone()
        connection.execute(
            "INSERT OR IGNORE INTO snapshot_upload_blocks SELECT ?, id FROM snapshot_blocks WHERE cid = ?",
            (upload_id, cid),
        )
        locations.append(BlockLocation(*row))
    return locations


def finish(
    connection: Connection,
    upload_id: str,
    root: NewRoot,
    use: TokenUse,
    decide: Callable[[Usage], None],
    admit: Callable[[Usage], None],
) -> None:
    """Record the snapshot and end the upload, or refuse and change nothing."""
    _require_upload(connection, upload_id)
    use_token(connection, use, root.cid)
    owner = connection.execute("SELECT did FROM snapshot_roots WHERE cid = ?", (root.cid,)).fetchone()
    if owner is None:
        decide(_usage_besides(connection, upload_id, root.did))
        _insert_root(connection, root)
    elif owner[0] != root.did:
        raise SnapshotRefused(ANOTHER_DID)
    else:
        again = "UPDATE snapshot_roots SET held_until = max(held_until, ?) WHERE cid = ?"
        connection.execute(again, (root.held_until, root.cid))
    connection.execute(
        "UPDATE snapshot_pins SET state = 'pinned' WHERE cid = ? AND did = ? AND state IN ('queued', 'failed')",
        (root.cid, root.did),
    )
    if root.pin is not None and not _is_pinned(connection, root.cid):
        admit(usage_of(connection, root.did))
        _pin_by_import(connection, root, root.pin)
    end(connection, upload_id)


def end(connection: Connection, upload_id: str) -> None:
    """End an upload and release its reservation."""
    connection.execute("DELETE FROM snapshot_uploads WHERE upload = ?", (upload_id,))


def _require_upload(connection: Connection, upload_id: str) -> None:
    """Refuse an upload that took too long: its reservation has expired, and its blocks may have been deleted."""
    if connection.execute("SELECT 1 FROM snapshot_uploads WHERE upload = ?", (upload_id,)).fetchone() is None:
        raise StoreUnavailable("the upload took longer than its reservation holds")


def _usage_besides(connection: Connection, upload_id: str, did: str) -> Usage:
    usage = usage_of(connection, did)
    (own,) = connection.execute("SELECT bytes FROM snapshot_uploads WHERE upload = ?", (upload_id,)).fetchone()
    return Usage(usage.stored, usage.reserved - own, usage.pins, usage.revisions)


def _insert_root(connection: Connection, root: NewRoot) -> None:
    cursor = connection.execute(
        "INSERT INTO snapshot_roots (cid, did, size, publisher, held_until, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        (root.cid, root.did, root.size, root.publisher, root.held_until, root.now),
    )
    for position, cid in enumerate(root.blocks):
        connection.execute("UPDATE snapshot_blocks SET stored = 1 WHERE cid = ?", (cid,))
        connection.execute(
            "INSERT INTO snapshot_links SELECT ?, ?, id FROM snapshot_blocks WHERE cid = ?",
            (cursor.lastrowid, position, cid),
        )


def _is_pinned(connection: Connection, cid: str) -> bool:
    statement = "SELECT 1 FROM snapshot_pins WHERE cid = ? AND state = 'pinned' LIMIT 1"
    return connection.execute(statement, (cid,)).fetchone() is not None


def _pin_by_import(connection: Connection, root: NewRoot, request_id: str) -> None:
    insert_pin(connection, (request_id, root.did, root.cid, None, "[]", "{}", "pinned"), root.now, by_import=True)
