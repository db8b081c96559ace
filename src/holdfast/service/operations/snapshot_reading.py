"""Reads stored snapshots, without access control: blocks, CAR files, and paths below a root."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.content import ipld
from holdfast.content.cars import car_begin, section_begin
from holdfast.content.cids import Block, codec_of
from holdfast.wire.failures import BLOCK_NOT_FOUND, PATH_NOT_FOUND, SnapshotRefused

_INDEX = re.compile(r"[0-9]{1,6}")
Bytes = bytes | bytearray  # a new array costs one copy less than bytes, and nothing changes it later

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from holdfast.rules.gateway import Wanted
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.snapshot_index import BlockPlace, SnapshotIndex


@dataclass(frozen=True, slots=True)
class Car:
    """A CAR file to be sent: its blocks in order, and the bytes that precede each block.

    Attributes:
        begins: bytes before each block; before the first, the file's header too.
        size: bytes of the whole file.
    """

    blocks: tuple[BlockPlace, ...]
    begins: tuple[bytes, ...]
    size: int


def car_of(root: str, blocks: tuple[BlockPlace, ...]) -> Car:
    """Return the CAR file of these blocks. `blocks` must not be empty."""
    begins = [section_begin(place.cid, place.size) for place in blocks]
    begins[0] = car_begin(root) + begins[0]
    return Car(blocks, tuple(begins), sum(map(len, begins)) + sum([place.size for place in blocks]))


@dataclass(frozen=True, slots=True)
class SnapshotReading:
    """Reads stored snapshots for anyone who knows a CID."""

    index: SnapshotIndex
    blocks: BlockStorage

    async def place(self, cid: str) -> BlockPlace:
        """Return where a block is stored. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        found = await self.index.block(cid)
        if found is None:
            raise SnapshotRefused(BLOCK_NOT_FOUND)
        return found

    async def dag(self, cid: str) -> tuple[BlockPlace, ...]:
        """Return where a block and the blocks that it links to are stored. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        kept = await self.index.root(cid)
        return kept.blocks if kept is not None else (await self.place(cid),)

    async def block(self, place: BlockPlace) -> Bytes:
        """Return a block's bytes. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        data = self._at_once(place)
        return data if data is not None else await self._fetched(place)

    async def car(self, dag: tuple[BlockPlace, ...], path: Sequence[str], wanted: Wanted) -> Car:
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
        for begin, place in zip(car.begins, car.blocks, strict=True):
            yield begin + await self.block(place)

    async def whole(self, car: Car) -> Bytes:
        """Return a small file's bytes. Raises SnapshotRefused(BLOCK_NOT_FOUND)."""
        data = self._whole_at_once(car)
        return data if data is not None else await self._joined(car)

    def _at_once(self, place: BlockPlace) -> Bytes | None:
        """Return a block's bytes; None if they cannot be read without waiting."""
        data = bytearray(place.size)
        return data if self.blocks.fill(place.key, memoryview(data)) else None

    def _whole_at_once(self, car: Car) -> Bytes | None:
        """Return a CAR file's bytes, with blocks read directly into place; None if a block cannot be read at once."""
        data, at = bytearray(car.size), 0
        view = memoryview(data)
        for begin, place in zip(car.begins, car.blocks, strict=True):
            block = at + len(begin)
            view[at:block] = begin
            at = block + place.size
            if not self.blocks.fill(place.key, view[block:at]):
                return None
        return data

    async def _joined(self, car: Car) -> bytes:
        found = await self.blocks.get_all([place.key for place in car.blocks])
        parts: list[bytes] = []
        for begin, place, data in zip(car.begins, car.blocks, found, strict=True):
            parts += (begin, _whole_block(place, data))
        return b"".join(parts)

    async def _fetched(self, place: BlockPlace) -> bytes:
        return _whole_block(place, await self.blocks.get(place.key))

    async def _car_of_path(
        self, top: BlockPlace, below: Sequence[BlockPlace], path: Sequence[str], wanted: Wanted
    ) -> Car:
        """Return a CAR file of the root, the path's target, and what the target links to if all of it is wanted."""
        if codec_of(top.cid) == "raw":  # it has nothing below it
            raise SnapshotRefused(PATH_NOT_FOUND)
        value = _followed(ipld.value_of(Block(top.cid, bytes(await self.block(top)))), path)
        inside = not isinstance(value, ipld.Link) and wanted.scope != "all"
        links = [] if inside else list(map(ipld.cid_of_link, _links(value)))
        places = {place.cid: place for place in below}
        cids = links if wanted.dups else dict.fromkeys(links)
        return car_of(top.cid, (top, *[places[cid] for cid in cids if cid in places]))


def _whole_block(place: BlockPlace, data: bytes | None) -> bytes:
    """Return the block. Raises SnapshotRefused(BLOCK_NOT_FOUND) if it is lost or its object has another size."""
    if data is None or len(data) != place.size:
        raise SnapshotRefused(BLOCK_NOT_FOUND)
    return data


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
