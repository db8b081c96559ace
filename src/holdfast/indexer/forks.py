"""Finds the fork after a reorganisation: the newest stored block that the chain still has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.indexer.reader import ChainMoved

if TYPE_CHECKING:
    from holdfast.indexer.reader import RangeReader
    from holdfast.indexer.rows import IndexedBlock

_SEARCH_SIZE = 16


async def blocks_of(reader: RangeReader, numbers: list[int]) -> list[IndexedBlock]:
    """Return the chain's blocks with these numbers, none of which is above its head. Raises RpcError.

    Raises ChainMoved if the endpoint lacks such a block. The endpoint may lag, or may have pruned old blocks, so a
    missing block does not contradict the index.
    """
    found = await reader.blocks(numbers)
    if None in found:
        raise ChainMoved(numbers[found.index(None)])
    return [block for block in found if block is not None]


async def newest_common(reader: RangeReader, stored: list[IndexedBlock], head: IndexedBlock) -> IndexedBlock | None:
    """Return the newest of the stored blocks `stored` that the chain also has. Raises RpcError, ChainMoved."""
    candidates = [block for block in stored if block.number <= head.number]
    for start in range(0, len(candidates), _SEARCH_SIZE):
        group = candidates[start : start + _SEARCH_SIZE]
        answers = await blocks_of(reader, [block.number for block in group])
        for mine, theirs in zip(group, answers, strict=True):
            if mine == theirs:
                return mine
    return None


def is_prefix(fork: IndexedBlock, stored: list[IndexedBlock], head: IndexedBlock) -> bool:
    """Return whether the endpoint's chain differs from the indexed chain only in being shorter."""
    return not any(fork.number < block.number <= head.number for block in stored)
