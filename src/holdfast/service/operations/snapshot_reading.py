"""Kept snapshots as anybody may read them: blocks, CAR files, and paths through a root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from multiformats import CID

from holdfast.content import ipld
from holdfast.content.cars import car_begin, section_begin
from holdfast.content.cids import Block
from holdfast.wire.failures import BLOCK_NOT_FOUND, PATH_NOT_FOUND, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from holdfast.rules.gateway import Wanted
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import BlockPlace, SnapshotIndex


@dataclass(frozen=True, slots=True)
class Car:
    """A CAR file to be written: its root, its blocks in order, and its length in bytes."""

    root: str
    blocks: tuple[BlockPlace, ...]

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        sections = sum(len(section_begin(place.cid, place.size)) + place.size for place in self.blocks)
        return len(car_begin(self.root)) + sections


@dataclass(frozen=True, slots=True)
class SnapshotReading:
    """Reads kept snapshots for anyone who knows a CID."""

    index: SnapshotIndex
    blocks: BlockStorage

    async def place(self, cid: str) -> BlockPlace:
        """Where a block lies. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        found = await self.index.block(cid)
        if found is None:
            raise SnapshotRefused(BLOCK_NOT_FOUND)
        return found

    async def block(self, place: BlockPlace) -> bytes:
        """A block's bytes. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        data = await self.blocks.get(place.key)
        if data is None:
            raise SnapshotRefused(BLOCK_NOT_FOUND)
        return data

    async def car(self, cid: str, path: Sequence[str], wanted: Wanted) -> Car:
        """The CAR file of what a path below a block ends at, with the blocks on the way. Raises SnapshotRefused."""
        top = await self.place(cid)
        kept = await self.index.root(cid)
        if kept is None:  # a raw block, which has nothing below it
            if path:
                raise SnapshotRefused(PATH_NOT_FOUND)
            return Car(cid, (top,))
        if path:
            return await self._car_of_path(top, kept.blocks, path)
        below = kept.blocks[1:] if wanted.scope == "all" else ()
        return Car(cid, (top, *(below if wanted.dups else dict.fromkeys(below))))

    async def pieces(self, car: Car) -> AsyncIterator[bytes]:
        """The file's bytes. A block that has gone meanwhile ends it early: its length then shows that it is cut."""
        yield car_begin(car.root)
        for place in car.blocks:
            data = await self.block(place)
            yield section_begin(place.cid, len(data)) + data

    async def whole(self, car: Car) -> bytes:
        """The bytes of a small file. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        found = await self.blocks.get_all([place.key for place in car.blocks])
        parts = [car_begin(car.root)]
        for place, data in zip(car.blocks, found, strict=True):
            if data is None:
                raise SnapshotRefused(BLOCK_NOT_FOUND)
            parts += [section_begin(place.cid, len(data)), data]
        return b"".join(parts)

    async def _car_of_path(self, top: BlockPlace, blocks: Sequence[BlockPlace], path: Sequence[str]) -> Car:
        """The root, then the block that the path leads to; a path that ends inside the root needs no other."""
        value = _followed(ipld.value_of(Block(top.cid, await self.block(top))), path)
        if not isinstance(value, CID):
            return Car(top.cid, (top,))
        target = ipld.cid_of_link(value)
        return Car(top.cid, (top, *[place for place in blocks if place.cid == target][:1]))


def _followed(value: Any, path: Sequence[str]) -> Any:
    """What a path leads to within a DAG-CBOR value. Raises SnapshotRefused(PATH_NOT_FOUND)."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            raise SnapshotRefused(PATH_NOT_FOUND)
    return value
