"""Receives uploaded snapshots: spools them to disk, checks and stores them, and only then acknowledges them."""

from __future__ import annotations

import asyncio
import errno
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.content.cars import MAX_CAR_BYTES, CarReader
from holdfast.content.errors import ContentError
from holdfast.content.names import name_of
from holdfast.content.snapshots import check_all_linked, check_sizes, read_root
from holdfast.rules.limits import BODY_TIMEOUT_S
from holdfast.rules.snapshot_quotas import (
    UNPINNED_RETENTION_S,
    UPLOAD_RETENTION_S,
    UPLOAD_TIMEOUT_S,
    SnapshotLimits,
    Usage,
    admit_pin,
    admit_root,
    reservation,
)
from holdfast.rules.snapshot_tokens import publisher_of
from holdfast.service.http.multipart import NotOneFile, OneFile
from holdfast.service.snapshots.port import BlocksFull, BlocksUnavailable
from holdfast.service.store.snapshot_index import NewRoot, NewUpload, TokenUse
from holdfast.wire.failures import (
    ANOTHER_DID,
    BAD_REQUEST,
    INSUFFICIENT_FUNDS,
    INVALID_CAR,
    OUT_OF_SPACE,
    TOO_LARGE,
    TOO_SLOW,
    SnapshotRefused,
)
from holdfast.wire.file_errors import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from holdfast.content.cids import Block
    from holdfast.content.snapshots import Root
    from holdfast.rules.snapshot_tokens import Bearer
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.operations.snapshot_waste import SnapshotWaste
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import SnapshotIndex

MAX_BODY_BYTES = MAX_CAR_BYTES + 16 * 1024  # the multipart form around the file
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Imported:
    """The contents of an upload: the root, and the number and total size in bytes of its distinct blocks."""

    root: str
    blocks: int
    block_bytes: int


@dataclass(frozen=True, slots=True)
class _Read:
    """A complete, checked CAR file: its root, and each block's length and offset."""

    root: Root
    sizes: dict[str, int]
    offsets: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotUploads:
    """Accepts uploads.

    Attributes:
        spool: folder on this machine for uploads that have not been checked yet.
        free_bytes: how many bytes of its disk must stay free.
        waste: frees space when storage is full.
    """

    index: SnapshotIndex
    blocks: BlockStorage
    spool: Path
    waste: SnapshotWaste
    free_bytes: int
    limits: SnapshotLimits
    clock: Clock
    entropy: Entropy
    _under_way: dict[str, int] = field(default_factory=dict, init=False)

    async def take(
        self, bearer: Bearer, boundary: bytes, pieces: AsyncIterator[bytes], declared: int | None, *, pin: bool
    ) -> Imported:
        """Store the snapshot in a multipart body. Once this method has returned, the snapshot survives `kill -9`.

        Args:
            bearer: the DID that it must belong to.
            boundary: the multipart body's.
            pieces: the body.
            declared: the body's length, if the request states it.
            pin: whether to pin it at once; otherwise it is stored for an hour, waiting for a pin.

        Raises:
            SnapshotRefused: nothing was stored.
        """
        if declared is not None and declared > MAX_BODY_BYTES:
            raise SnapshotRefused(TOO_LARGE, f"an upload has at most {MAX_CAR_BYTES} bytes")
        upload = self.entropy(12).hex()
        self._take_room(upload, MAX_BODY_BYTES if declared is None else declared)
        try:
            return await self._taken(upload, bearer, boundary, pieces, declared, pin=pin)
        finally:
            del self._under_way[upload]

    async def _taken(
        self,
        upload: str,
        bearer: Bearer,
        boundary: bytes,
        pieces: AsyncIterator[bytes],
        declared: int | None,
        *,
        pin: bool,
    ) -> Imported:
        file = self.spool / f"{upload}.car"
        try:
            allowed = await self._reserve(upload, bearer.did, declared)
            await self._receive(file, boundary, pieces, allowed)
            read = await asyncio.to_thread(_judged, file, bearer.did)
            await self._store(upload, file, read)
            await self._finish(upload, bearer, read, pin=pin)
        except BaseException as error:
            await asyncio.shield(self._abandon(bearer.did, upload, full=isinstance(error, BlocksFull)))
            raise
        finally:
            file.unlink(missing_ok=True)
        return Imported(read.root.cid, len(read.sizes), sum(read.sizes.values()))

    async def _reserve(self, upload: str, did: str, declared: int | None) -> int:
        now, limits = self.clock(), await self._limits(did)

        def decide(usage: Usage) -> int:
            wanted = MAX_BODY_BYTES if declared is None else declared
            return reservation(usage, limits, wanted, declared=declared is not None)

        return await self.index.begin_upload(
            NewUpload(upload_id=upload, did=did, now=now, expires_at=now + UPLOAD_RETENTION_S), decide
        )

    async def _limits(self, did: str) -> SnapshotLimits:
        return self.limits.of(confirmed=await self.index.is_confirmed(did))

    async def _abandon(self, did: str, upload: str, *, full: bool) -> None:
        """Give the reservation back.

        If the storage is full, those of the upload's blocks that are already stored are deleted at once.
        """
        await self.index.end_upload(did, upload)
        if full:
            with suppress(BlocksUnavailable):
                await self.waste.collect()

    async def _receive(self, file: Path, boundary: bytes, pieces: AsyncIterator[bytes], allowed: int) -> None:
        """Write the file in the multipart body to the disk. Raises SnapshotRefused."""
        try:
            async with asyncio.timeout(UPLOAD_TIMEOUT_S):
                await self._spool(file, boundary, pieces, allowed)
        except TimeoutError:
            raise SnapshotRefused(TOO_SLOW) from None
        except NotOneFile as error:
            raise SnapshotRefused(BAD_REQUEST, f"{error}; send one CAR file as multipart/form-data") from None
        except OSError as error:
            if error.errno in NO_ROOM:
                raise SnapshotRefused(OUT_OF_SPACE) from None
            raise

    async def _spool(self, file: Path, boundary: bytes, pieces: AsyncIterator[bytes], allowed: int) -> None:
        waiting = bytearray()
        form = OneFile(boundary, waiting.extend)
        taken = 0
        await asyncio.to_thread(self.spool.mkdir, mode=0o700, parents=True, exist_ok=True)
        stream = await asyncio.to_thread(file.open, "xb", 0)
        try:
            async for piece in _in_time(pieces):
                taken += len(piece)
                _require_allowed(taken, allowed)
                form.feed(piece)
                if len(waiting) >= _PIECE_BYTES:
                    await asyncio.to_thread(_write, stream, waiting)
                    waiting.clear()
            form.finish()
            await asyncio.to_thread(_write, stream, waiting)
        finally:
            await asyncio.to_thread(stream.close)

    async def _store(self, upload: str, file: Path, read: _Read) -> None:
        """Write every block to the storage, under the names that the index assigns."""
        locations = await self.index.insert_blocks(read.root.manifest.did, upload, list(read.sizes.items()))
        await self.blocks.put_all((location.key, _block(file, read, location.cid)) for location in locations)

    async def _finish(self, upload: str, bearer: Bearer, read: _Read, *, pin: bool) -> None:
        now, limits = self.clock(), await self._limits(bearer.did)
        publisher = publisher_of(read.root.manifest.delegation, bearer.did, now)
        size = sum(read.sizes.values())
        root = NewRoot(
            cid=read.root.cid,
            did=bearer.did,
            blocks=(read.root.cid, *read.root.blocks),
            size=size,
            publisher=None if publisher is None else name_of(publisher),
            pin=self.entropy(16).hex() if pin else None,
            held_until=0.0 if pin else now + UNPINNED_RETENTION_S,
            now=now,
        )
        use = TokenUse(token=bearer.digest, kind="import", what=root.cid, until=bearer.expires_at)
        await self.index.finish_upload(
            upload,
            root,
            use,
            lambda usage: admit_root(usage, limits, size),
            lambda usage: admit_pin(usage, limits),
        )

    def _take_room(self, upload: str, wanted: int) -> None:
        """Refuse an upload that, with those under way, would not leave `free_bytes`. Raises SnapshotRefused.

        One that is under way counts in full: what it has written to the spool will be on the disk twice.
        """
        folder = next(path for path in (self.spool, *self.spool.parents) if path.exists())
        least = self.free_bytes + wanted + sum(self._under_way.values())
        if self.free_bytes and shutil.disk_usage(folder).free < least:
            raise SnapshotRefused(OUT_OF_SPACE)
        self._under_way[upload] = wanted


def _require_allowed(taken: int, allowed: int) -> None:
    if taken > MAX_BODY_BYTES:
        raise SnapshotRefused(TOO_LARGE, f"an upload has at most {MAX_CAR_BYTES} bytes")
    if taken > allowed:
        raise SnapshotRefused(INSUFFICIENT_FUNDS, f"the DID has room for {allowed} bytes more; delete older pins")


async def _in_time(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces. Raises TimeoutError if one takes too long: a silent client must not keep its reservation."""
    while True:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            piece = await anext(pieces, None)
        if piece is None:
            return
        yield piece


def _write(stream: BinaryIO, data: bytearray) -> None:
    with memoryview(data) as view:
        done = 0
        while done < len(view):
            done += stream.write(view[done:])


def _blocks(file: Path, reader: CarReader) -> Iterator[Block]:
    with file.open("rb", 0) as stream:
        while piece := stream.read(_PIECE_BYTES):
            yield from reader.feed(piece)
    reader.finish()


def _block(file: Path, read: _Read, cid: str) -> bytes:
    """Return a block of a checked file. Raises OSError, also if the disk returns less than was written."""
    with file.open("rb") as stream:
        stream.seek(read.offsets[cid])
        data = stream.read(read.sizes[cid])
    if len(data) != read.sizes[cid]:
        raise OSError(errno.EIO, "the received file is shorter than it was", file)
    return data


def _judged(file: Path, did: str) -> _Read:
    """Return the snapshot in a file, after checking that it is complete and belongs to this DID.

    Raises SnapshotRefused.
    """
    try:
        read = _read(file)
    except ContentError as error:
        row = TOO_LARGE if error.code == "car_too_large" else INVALID_CAR
        raise SnapshotRefused(row, str(error)) from None
    if read.root.manifest.did != did:
        raise SnapshotRefused(ANOTHER_DID)
    return read


def _read(file: Path) -> _Read:
    reader, sizes, offsets, top = CarReader(), dict[str, int](), dict[str, int](), None
    for block in _blocks(file, reader):
        sizes[block.cid] = len(block.data)
        offsets[block.cid] = reader.position - len(block.data)
        if block.cid == reader.root:
            top = block
    if top is None:
        raise ContentError("block_missing", "the CAR file does not hold its root")
    root = read_root(top)
    check_sizes(root, sizes)
    check_all_linked(root, sizes)
    return _Read(root, sizes, offsets)
