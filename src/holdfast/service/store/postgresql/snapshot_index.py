"""The index of stored snapshots in PostgreSQL.

Rules run in Python; the database checks that their facts are still true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.limits import CLOCK_MARGIN_S
from holdfast.rules.shards import shard_of
from holdfast.rules.snapshot_quotas import FAILED_RETENTION_S, ORPHANS_RETENTION_S, QUEUED_RETENTION_S, Usage
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import snapshot_reads as reads
from holdfast.service.store.postgresql import snapshot_writes as writes
from holdfast.service.store.postgresql.texts import storable
from holdfast.service.store.postgresql.tries import Tries
from holdfast.service.store.postgresql.writes.arguments import new_number
from holdfast.wire.failures import ANOTHER_DID, TOKEN_USED, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.rules.pins import Pin
    from holdfast.service.store.postgresql.batcher import Batcher
    from holdfast.service.store.snapshot_index import (
        BlockLocation,
        NewPin,
        NewRecord,
        NewRoot,
        NewUpload,
        StoredRecord,
        StoredRoot,
        TokenUse,
    )

_DIDS_AT_ONCE, _ORPHANS_AT_ONCE, _ROWS_AT_ONCE = 100, 20, 1000
_REFUSALS = {"token_used": TOKEN_USED, "another_did": ANOTHER_DID}
_CROWDED = "too many others wrote about the same DID"


class PostgresqlSnapshotIndex:
    """Implements SnapshotIndex through the store's batches."""

    lists_objects = False  # the tables are sharded by DID, which an object's name does not contain

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    # -- reads -----------------------------------------------------------------------------------------------------

    async def is_registered(self, did: str) -> bool:
        """See SnapshotIndex."""
        return storable(did) and bool(await self._reads.ask(reads.IS_REGISTERED, did))

    async def is_confirmed(self, did: str) -> bool:
        """See SnapshotIndex."""
        return storable(did) and bool(await self._reads.ask(reads.IS_CONFIRMED, did))

    async def is_revoked(self, did: str, cids: Sequence[str], issued_at: float) -> bool:
        """See SnapshotIndex."""
        return bool(await self._reads.ask(reads.IS_REVOKED, (did, cids, issued_at)))

    async def usage(self, did: str) -> Usage:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.USAGE, did)

    async def pin(self, did: str, request_id: str) -> Pin | None:
        """See SnapshotIndex."""
        if not storable(request_id):
            return None
        return await self._reads.ask(reads.PIN, (did, request_id))

    async def pins(self, did: str) -> list[Pin]:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.PINS, _did(did))

    async def publisher(self, did: str) -> str | None:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.PUBLISHER, did)

    async def block(self, cid: str) -> BlockLocation | None:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.BLOCK, cid)

    async def root(self, cid: str) -> StoredRoot | None:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.ROOT, cid)

    async def record(self, name: str) -> StoredRecord | None:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.RECORD, name)

    async def garbage(self, limit: int) -> list[str]:
        """See SnapshotIndex."""
        return await self._reads.ask(reads.GARBAGE, (limit,))

    async def totals(self) -> tuple[int, int, int]:
        """See SnapshotIndex."""
        ((snapshots, pins, size),) = await self._reads.ask(reads.TOTALS, ())
        return snapshots, pins, size

    # -- uploads ---------------------------------------------------------------------------------------------------

    async def begin_upload(self, upload: NewUpload, decide: Callable[[Usage], int]) -> int:
        """See SnapshotIndex."""
        usage = await self.usage(upload.did)
        for _ in Tries():
            size = decide(usage)
            seen = [usage.stored, usage.reserved, usage.pins, usage.revisions]
            arguments = (*_did(upload.did), upload.upload_id, upload.expires_at, _array(seen), size)
            done, facts = await self._writes.ask(writes.BEGIN, arguments)
            if done:
                return size
            usage = Usage(*facts)
        raise StoreUnavailable(_CROWDED)

    async def insert_blocks(self, did: str, upload_id: str, blocks: Sequence[tuple[str, int]]) -> list[BlockLocation]:
        """See SnapshotIndex."""
        given = _json([(cid, shard_of(cid), new_number(), size) for cid, size in blocks])
        found = await self._writes.ask(writes.INSERT_BLOCKS, (*_did(did), upload_id, given))
        if found is None:
            raise _took_too_long()
        return [reads.block_location(cid, number, size) for (cid, size), number in zip(blocks, found[0], strict=True)]

    async def finish_upload(
        self,
        upload_id: str,
        root: NewRoot,
        use: TokenUse,
        decide: Callable[[Usage], None],
        admit: Callable[[Usage], None],
    ) -> None:
        """See SnapshotIndex."""
        arguments = (*_did(root.did), upload_id, *_token(use), root.cid, shard_of(root.cid), root.size, root.pin)
        more = (use.until, _json(list(root.blocks)), root.publisher, root.held_until, root.now)
        ((verdict, facts),) = await self._reads.ask(reads.FINISH_FACTS, arguments)
        for _ in Tries():
            _require_facts(verdict)
            is_new, *other = facts[:5]
            needs_pin, *then = facts[5:]
            if is_new:
                decide(Usage(*other))
            if needs_pin:
                admit(Usage(*then))
            verdict, facts = await self._writes.ask(writes.FINISH, (*arguments, *more, _array(facts)))
            if verdict == "done":
                return
        raise StoreUnavailable(_CROWDED)

    async def end_upload(self, did: str, upload_id: str) -> None:
        """See SnapshotIndex."""
        await self._writes.ask(writes.END, (*_did(did), upload_id))

    # -- pins ------------------------------------------------------------------------------------------------------

    async def add_pin(self, pin: NewPin, use: TokenUse, admit: Callable[[Usage], None]) -> Pin | None:
        """See SnapshotIndex."""
        if pin.replaces is not None and not storable(pin.replaces):
            return None
        arguments = (*_did(pin.did), *_token(use), pin.request.cid, shard_of(pin.request.cid), pin.replaces)
        ((verdict, _, stay),) = await self._reads.ask(reads.PIN_FACTS, arguments)
        for _ in Tries():
            if verdict == "facts":
                admit(Usage(0, 0, stay, 0))
            elif verdict == "missing":
                return None
            else:  # for `again` the function below returns the pin and writes nothing
                _require_facts(verdict)
            verdict, stay, *row = await self._writes.ask(writes.ADD_PIN, (*arguments, *_new_pin(pin), use.until, stay))
            if verdict in {"done", "again"}:
                return reads.pin_of_row(row)
        raise StoreUnavailable(_CROWDED)

    async def remove_pin(self, did: str, request_id: str, now: float) -> bool:
        """See SnapshotIndex."""
        if not storable(request_id):
            return False
        (done,) = await self._writes.ask(writes.REMOVE_PIN, (*_did(did), request_id, now))
        return bool(done)

    async def revoke(self, did: str, cid: str | None, now: float, until: float) -> None:
        """See SnapshotIndex."""
        await self._writes.ask(writes.REVOKE, (*_did(did), cid or "", now, until))

    async def publish(self, record: NewRecord, decide: Callable[[StoredRecord | None], bool]) -> bool:
        """See SnapshotIndex."""
        keys = (shard_of(record.name), record.name, shard_of(record.root), record.root)
        new = (record.sequence, str(record.validity_ns), record.ttl_ns, record.data, record.now)
        for _ in Tries():
            ((owner_shard, owner, *row),) = await self._reads.ask(reads.NAME_FACTS, keys)
            stored = reads.record_of(*row)
            if owner is None or (stored is not None and stored.did != owner):
                return False
            if not decide(stored):
                return True
            seen = None if stored is None else stored.data
            if await self._writes.ask(writes.PUBLISH, (*keys, owner_shard, owner, *new, seen)):
                return True
        raise StoreUnavailable(_CROWDED)

    # -- expiry ----------------------------------------------------------------------------------------------------

    async def expire(self, now: float) -> int:
        """See SnapshotIndex. Rows are removed in parts, so that no statement takes long."""
        queued, failed = now - QUEUED_RETENTION_S, now - FAILED_RETENTION_S
        parts = (
            (writes.EXPIRE, (now, _us(queued), _us(failed), _DIDS_AT_ONCE)),
            (writes.EXPIRE_ORPHANS, (now, now - ORPHANS_RETENTION_S, _ORPHANS_AT_ONCE)),
            (writes.EXPIRE_TOKENS, (now - CLOCK_MARGIN_S, _ROWS_AT_ONCE)),
        )
        return sum([await self._writes.in_parts(kind, values) for kind, values in parts])

    async def objects(self, after: int, limit: int) -> list[tuple[int, str, str]]:  # noqa: ARG002 - the port's
        """See SnapshotIndex."""
        return []

    async def name_strays(self, objects: Sequence[str]) -> int:  # noqa: ARG002 - the port's
        """See SnapshotIndex."""
        return 0

    async def collected(self, keys: Sequence[str]) -> None:
        """See SnapshotIndex."""
        shards = [shard_of(key.rpartition(".")[0]) for key in keys]
        await self._writes.ask(writes.COLLECTED, (shards, list(keys)))


def _did(did: str) -> tuple[int, str]:
    return shard_of(did), did


def _token(use: TokenUse) -> tuple[int, bytes, str, str]:
    return shard_of(use.token), use.token, use.kind, use.what


def _new_pin(pin: NewPin) -> tuple[Any, ...]:
    request = pin.request
    name = None if request.name is None else request.name.encode()
    return pin.request_id, name, _json(request.origins), _json(dict(request.meta)), pin.now


def _require_facts(verdict: str) -> None:
    """Raise an error if the database function's verdict is a refusal. Raises SnapshotRefused or StoreUnavailable."""
    if verdict == "over":
        raise _took_too_long()
    if verdict in _REFUSALS:
        raise SnapshotRefused(_REFUSALS[verdict])


def _took_too_long() -> StoreUnavailable:
    return StoreUnavailable("the upload took longer than its reservation holds")


def _array(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _us(seconds: float) -> int:
    return int(seconds * 1_000_000)
