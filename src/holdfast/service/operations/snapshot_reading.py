"""Reads stored snapshots, without access control: blocks, CAR files, and paths below a root."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.content import ipld
from holdfast.content.cars import car_begin, section_begin
from holdfast.content.cids import codec_of, verified
from holdfast.content.errors import ContentError
from holdfast.wire.failures import BLOCK_NOT_FOUND, PATH_NOT_FOUND, SnapshotRefused

_log = logging.getLogger("holdfast.web")
_INDEX = re.compile(r"[0-9]{1,6}")
Bytes = bytes | bytearray  # a new array costs one copy less than bytes, and nothing changes it later

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from holdfast.rules.gateway import Wanted
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import BlockLocation, SnapshotIndex


@dataclass(frozen=True, slots=True)
class Car:
    """A CAR file to be sent: its blocks in order, and the bytes that precede each block.

    Attributes:
        begins: bytes before each block; before the first, the file's header too.
        size: bytes of the whole file.
    """

    blocks: tuple[BlockLocation, ...]
    begins: tuple[bytes, ...]
    size: int


def car_of(root: str, blocks: tuple[BlockLocation, ...]) -> Car:
    """Return the CAR file of these blocks. `blocks` must not be empty."""
    begins = [section_begin(location.cid, location.size) for location in blocks]
    begins[0] = car_begin(root) + begins[0]
    return Car(blocks, tuple(begins), sum(map(len, begins)) + sum([location.size for location in blocks]))


@dataclass(frozen=True, slots=True)
class SnapshotReading:
    """Reads stored snapshots for anyone who knows a CID."""

    index: SnapshotIndex
    blocks: BlockStorage

    async def location(self, cid: str) -> BlockLocation:
        """Return where a block is stored. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        found = await self.index.block(cid)
        if found is None:
            raise SnapshotRefused(BLOCK_NOT_FOUND)
        return found

    async def dag(self, cid: str) -> tuple[BlockLocation, ...]:
        """Return where a block and the blocks that it links to are stored. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        root = await self.index.root(cid)
        return root.blocks if root is not None else (await self.location(cid),)

    async def block(self, location: BlockLocation) -> Bytes:
        """Return a block's bytes. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        data = self._at_once(location)
        return data if data is not None else await self._fetched(location)

    async def car(self, dag: tuple[BlockLocation, ...], path: Sequence[str], wanted: Wanted) -> Car:
        """Return the CAR file for a path below a block: the path's target and the blocks on the way to it.

        Raises SnapshotRefused.
        """
        top, *below = dag
        if path:
            return await self._car_of_path(top, below, path, wanted)
        if wanted.scope != "all":
            return car_of(top.cid, (top,))
        return car_of(top.cid, (top, *(below if wanted.dups else dict.fromkeys(below))))

    async def pieces(self, car: Car) -> AsyncIterator[bytes]:
        """Yield the file's bytes.

        If a block is deleted in the meantime, the body is shorter than its Content-Length.
        """
        for begin, location in zip(car.begins, car.blocks, strict=True):
            yield begin + await self.block(location)

    async def whole(self, car: Car) -> Bytes:
        """Return a small file's bytes. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        data = self._whole_at_once(car)
        return data if data is not None else await self._joined(car)

    def _at_once(self, location: BlockLocation) -> Bytes | None:
        """Return a block's bytes; None if they cannot be read without waiting."""
        data = bytearray(location.size)
        return data if self.blocks.fill(location.key, memoryview(data)) else None

    def _whole_at_once(self, car: Car) -> Bytes | None:
        """Return a CAR file's bytes, with blocks read directly into place; None if a block cannot be read at once."""
        data, at = bytearray(car.size), 0
        view = memoryview(data)
        for begin, location in zip(car.begins, car.blocks, strict=True):
            block = at + len(begin)
            view[at:block] = begin
            at = block + location.size
            if not self.blocks.fill(location.key, view[block:at]):
                return None
        return data

    async def _joined(self, car: Car) -> bytes:
        found = await self.blocks.get_all([location.key for location in car.blocks])
        parts: list[bytes] = []
        for begin, location, data in zip(car.begins, car.blocks, found, strict=True):
            parts += (begin, self._right(location, data))
        return b"".join(parts)

    async def _fetched(self, location: BlockLocation) -> bytes:
        return self._right(location, await self.blocks.get(location.key))

    def _right(self, location: BlockLocation, data: bytes | None) -> bytes:
        """Return the block. Raises SnapshotRefused(BLOCK_NOT_FOUND) if it is lost or its object has another size.

        Another server's objects are compared with their CIDs, because caches may keep a response for ever.
        """
        if data is None or len(data) != location.size:
            raise SnapshotRefused(BLOCK_NOT_FOUND)
        return _checked(location, data) if self.blocks.is_remote else data

    async def _car_of_path(
        self, top: BlockLocation, below: Sequence[BlockLocation], path: Sequence[str], wanted: Wanted
    ) -> Car:
        """Return a CAR file of the root, the path's target, and what the target links to if all of it is wanted."""
        if codec_of(top.cid) == "raw":  # it has nothing below it
            raise SnapshotRefused(PATH_NOT_FOUND)
        value = _followed(ipld.decode(_checked(top, bytes(await self.block(top)))), path)
        inside = not isinstance(value, ipld.Link) and wanted.scope != "all"
        links = [] if inside else list(map(ipld.cid_of_link, _links(value)))
        locations = {location.cid: location for location in below}
        cids = links if wanted.dups else dict.fromkeys(links)
        return car_of(top.cid, (top, *[locations[cid] for cid in cids if cid in locations]))


def _checked(location: BlockLocation, data: bytes) -> bytes:
    """Return the block. Raises SnapshotRefused(BLOCK_NOT_FOUND) if its object has other bytes, and logs this."""
    try:
        return verified(location.cid, data)
    except ContentError:
        _log.error("a stored block is damaged: put the object back from a copy", extra={"why": location.key})
        raise SnapshotRefused(BLOCK_NOT_FOUND) from None


def _links(value: Any) -> Iterator[ipld.Link]:
    """Yield the links in a DAG-CBOR value, in order."""
    if isinstance(value, ipld.Link):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _links(item)


def _followed(value: Any, path: Sequence[str]) -> Any:
    """Return the part of a DAG-CBOR value to which a path leads. Raises SnapshotRefused(PATH_NOT_FOUND)."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            raise SnapshotRefused(PATH_NOT_FOUND)
    return value
