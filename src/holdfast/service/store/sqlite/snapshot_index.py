"""The index of stored snapshots in the embedded store's file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.pin_rows import pin_of
from holdfast.service.store.snapshot_index import BlockLocation, StoredRecord, StoredRoot
from holdfast.service.store.sqlite import snapshot_pins, snapshot_uploads, snapshot_waste
from holdfast.service.store.sqlite.reader import read_apart
from holdfast.service.store.sqlite.standing import IS_CONFIRMED, IS_REGISTERED
from holdfast.service.store.sqlite.upkeep import in_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from holdfast.rules.pins import Pin
    from holdfast.service.store.snapshot_index import NewPin, NewRecord, NewRoot, NewUpload, TokenUse
    from holdfast.service.store.sqlite.reader import TurnReader
    from holdfast.service.store.sqlite.writer import GroupCommitWriter

_LOCATION = "SELECT b.cid, b.cid || '.' || b.id, b.size FROM snapshot_blocks b"
_BLOCK = f"{_LOCATION} WHERE b.cid = ? AND EXISTS (SELECT 1 FROM snapshot_links l WHERE l.block_id = b.id)"  # noqa: S608 - our own names
_OBJECTS = (
    "SELECT b.id, b.cid || '.' || b.id, min(r.did) FROM snapshot_blocks b JOIN snapshot_links l ON l.block_id = b.id"
    " JOIN snapshot_roots r ON r.id = l.root_id WHERE b.id > ? GROUP BY b.id ORDER BY b.id LIMIT ?"
)
_PUBLISHER = (
    "SELECT r.publisher FROM snapshot_pins p JOIN snapshot_roots r ON r.cid = p.cid AND r.did = p.did"
    " WHERE p.did = ? ORDER BY p.created_us DESC LIMIT 1"
)
_ROOT = (
    "SELECT b.cid, b.cid || '.' || b.id, b.size, r.did FROM snapshot_roots r JOIN snapshot_links l ON l.root_id = r.id"
    " JOIN snapshot_blocks b ON b.id = l.block_id WHERE r.cid = ? ORDER BY l.position"
)
_TOTALS = (
    "SELECT (SELECT count(*) FROM snapshot_roots), (SELECT count(*) FROM snapshot_pins),"
    " (SELECT coalesce(sum(size), 0) FROM snapshot_blocks WHERE stored)"
)


class SqliteSnapshotIndex:
    """Implements SnapshotIndex: point reads on the calling thread, writes by the store's group commit."""

    lists_objects = True

    def __init__(self, file: Path, reader: TurnReader, writer: GroupCommitWriter) -> None:
        self._file = file
        self._read = reader
        self._writer = writer

    # -- reads -----------------------------------------------------------------------------------------------------

    async def is_registered(self, did: str) -> bool:
        """See SnapshotIndex."""
        return self._read.one(IS_REGISTERED, did) is not None

    async def is_confirmed(self, did: str) -> bool:
        """See SnapshotIndex."""
        return self._read.one(IS_CONFIRMED, did) is not None

    async def is_revoked(self, did: str, cids: Sequence[str], issued_at: float) -> bool:
        """See SnapshotIndex."""
        row = self._read.one(
            "SELECT 1 FROM snapshot_revocations WHERE did = ? AND (cid IN (?, ?) OR (cid = '' AND before >= ?))",
            *(did, cids[0], cids[-1], issued_at),
        )
        return row is not None

    async def usage(self, did: str) -> Usage:
        """See SnapshotIndex."""
        return Usage(*self._read.one(snapshot_uploads.USAGE, *[did] * 4))

    async def pin(self, did: str, request_id: str) -> Pin | None:
        """See SnapshotIndex."""
        row = self._read.one(f"{snapshot_pins.PIN} WHERE p.did = ? AND p.request_id = ?", did, request_id)
        return pin_of(row) if row else None

    async def pins(self, did: str) -> list[Pin]:
        """See SnapshotIndex."""
        rows = self._read.all(f"{snapshot_pins.PIN} WHERE p.did = ? ORDER BY p.created_us DESC", did)
        return [pin_of(row) for row in rows]

    async def publisher(self, did: str) -> str | None:
        """See SnapshotIndex."""
        row = self._read.one(_PUBLISHER, did)
        return row[0] if row else None

    async def block(self, cid: str) -> BlockLocation | None:
        """See SnapshotIndex."""
        row = self._read.one(_BLOCK, cid)
        return BlockLocation(*row) if row else None

    async def root(self, cid: str) -> StoredRoot | None:
        """See SnapshotIndex."""
        rows = self._read.all(_ROOT, cid)
        return StoredRoot(cid, rows[0][3], tuple(BlockLocation(*row[:3]) for row in rows)) if rows else None

    async def record(self, name: str) -> StoredRecord | None:
        """See SnapshotIndex."""
        row = self._read.one(snapshot_pins.RECORD, name)
        return snapshot_pins.record_of(row) if row else None

    async def garbage(self, limit: int) -> list[str]:
        """See SnapshotIndex."""
        return [row[0] for row in self._read.all("SELECT object FROM snapshot_garbage LIMIT ?", limit)]

    async def objects(self, after: int, limit: int) -> list[tuple[int, str, str]]:
        """See SnapshotIndex."""
        return [tuple(row) for row in self._read.all(_OBJECTS, after, limit)]

    async def totals(self) -> tuple[int, int, int]:
        """See SnapshotIndex. Reads all rows, so on a thread."""
        ((snapshots, pins, size),) = await read_apart(self._file, _TOTALS)
        return snapshots, pins, size

    # -- writes ----------------------------------------------------------------------------------------------------

    async def revoke(self, did: str, cid: str | None, now: float, until: float) -> None:
        """See SnapshotIndex."""
        await self._writer.write(lambda connection: snapshot_pins.revoke(connection, did, cid or "", now, until))

    async def begin_upload(self, upload: NewUpload, decide: Callable[[Usage], int]) -> int:
        """See SnapshotIndex."""
        return await self._writer.write(lambda connection: snapshot_uploads.begin(connection, upload, decide))

    async def insert_blocks(
        self,
        did: str,  # noqa: ARG002 - an upload's ID is enough here
        upload_id: str,
        blocks: Sequence[tuple[str, int]],
    ) -> list[BlockLocation]:
        """See SnapshotIndex."""
        return await self._writer.write(
            lambda connection: snapshot_uploads.insert_blocks(connection, upload_id, blocks, _LOCATION)
        )

    async def finish_upload(
        self,
        upload_id: str,
        root: NewRoot,
        use: TokenUse,
        decide: Callable[[Usage], None],
        admit: Callable[[Usage], None],
    ) -> None:
        """See SnapshotIndex."""
        await self._writer.write(
            lambda connection: snapshot_uploads.finish(connection, upload_id, root, use, decide, admit)
        )

    async def end_upload(self, did: str, upload_id: str) -> None:  # noqa: ARG002 - an upload's ID is enough here
        """See SnapshotIndex."""
        await self._writer.write(lambda connection: snapshot_uploads.end(connection, upload_id))

    async def add_pin(self, pin: NewPin, use: TokenUse, admit: Callable[[Usage], None]) -> Pin | None:
        """See SnapshotIndex."""
        return await self._writer.write(lambda connection: snapshot_pins.add(connection, pin, use, admit))

    async def remove_pin(self, did: str, request_id: str, now: float) -> bool:
        """See SnapshotIndex."""
        return await self._writer.write(lambda connection: snapshot_pins.remove(connection, did, request_id, now))

    async def publish(self, record: NewRecord, decide: Callable[[StoredRecord | None], bool]) -> bool:
        """See SnapshotIndex."""
        return await self._writer.write(lambda connection: snapshot_pins.publish(connection, record, decide))

    async def expire(self, now: float) -> int:
        """See SnapshotIndex."""
        return await in_parts(self._writer, snapshot_waste.expire, now)

    async def name_strays(self, objects: Sequence[str]) -> int:
        """See SnapshotIndex."""
        return await self._writer.write(lambda connection: snapshot_waste.name_strays(connection, objects))

    async def collected(self, keys: Sequence[str]) -> None:
        """See SnapshotIndex."""
        await self._writer.write(lambda connection: snapshot_waste.collected(connection, keys))
