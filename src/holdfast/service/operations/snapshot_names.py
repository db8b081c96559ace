"""Stores and returns IPNS records, but only for names that a snapshot stored here binds to a DID."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.content.errors import ContentError
from holdfast.content.names import name_of, public_key_of
from holdfast.content.records import Change, Record, compare_records, read_record
from holdfast.service.store.snapshot_index import NewRecord
from holdfast.wire.failures import (
    BAD_REQUEST,
    NAME_NOT_REGISTERED,
    RECORD_DOES_NOT_RISE,
    RECORD_NOT_FOUND,
    SnapshotRefused,
)

if TYPE_CHECKING:
    from holdfast.service.clock import Clock
    from holdfast.service.store.snapshot_index import SnapshotIndex, StoredRecord


@dataclass(frozen=True, slots=True)
class SnapshotNames:
    """Stores the newest record of each name."""

    index: SnapshotIndex
    clock: Clock

    async def publish(self, name: str, data: bytes) -> None:
        """Store a valid record if it is newer than the stored one and the name's DID has pinned its snapshot here.

        A record that is already stored, or that differs from the stored one only in expiring earlier, changes nothing.

        Raises:
            SnapshotRefused: BAD_REQUEST, NAME_NOT_REGISTERED or RECORD_DOES_NOT_RISE.
        """
        record = _verified(name, data)
        if record.is_expired(self.clock()):
            raise SnapshotRefused(BAD_REQUEST, "the record has expired; publish one that ends later")
        new = NewRecord(
            name=record.name,
            root=record.root_cid,
            sequence=record.sequence,
            validity_ns=record.validity_ns,
            ttl_ns=record.ttl_ns,
            data=data,
            now=self.clock(),
        )
        if not await self.index.publish(new, lambda stored: _rises(stored, record)):
            raise SnapshotRefused(NAME_NOT_REGISTERED)

    async def record(self, name: str) -> StoredRecord:
        """Return the newest record of a name in canonical form. Raises SnapshotRefused(RECORD_NOT_FOUND)."""
        stored = await self.index.record(name)
        if stored is None:
            raise SnapshotRefused(RECORD_NOT_FOUND)
        return stored

    def seconds_left(self, record: StoredRecord) -> int:
        """Return how long the record may be cached, in whole seconds."""
        left = record.validity_ns // 10**9 - int(self.clock())
        return max(0, min(record.ttl_ns // 10**9, left))


def canonical_name(name: str) -> str:
    """Return a name's canonical text. Raises SnapshotRefused(BAD_REQUEST)."""
    try:
        return name_of(public_key_of(name))
    except ContentError as error:
        raise SnapshotRefused(BAD_REQUEST, str(error)) from None


def _verified(name: str, data: bytes) -> Record:
    try:
        return read_record(name, data)
    except ContentError as error:
        raise SnapshotRefused(BAD_REQUEST, str(error)) from None


def _rises(stored: StoredRecord | None, given: Record) -> bool:
    """Return whether to replace the stored record with the given one.

    Raises SnapshotRefused if it contradicts the stored one.
    """
    verdict = compare_records(None if stored is None else _record_of(stored, given), given)
    if verdict is Change.OLDER:
        raise SnapshotRefused(RECORD_DOES_NOT_RISE)
    if verdict is Change.CONFLICT:
        raise SnapshotRefused(
            RECORD_DOES_NOT_RISE, "another snapshot has this sequence: another device published first; fetch its record"
        )
    return verdict is not Change.SAME


def _record_of(stored: StoredRecord, given: Record) -> Record:
    """Return the stored record of the given one's name. It was verified when it was stored, and is not read again."""
    return Record(given.public_key, stored.root, stored.sequence, stored.validity_ns, stored.ttl_ns, stored.data)
