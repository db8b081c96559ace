"""Decides which block hashes to store, and how far the index can be rewound."""

from __future__ import annotations


def marks(first: int, last: int, head: int) -> list[int]:
    """Return the blocks of a range whose hashes are stored, in ascending order; `last` is always one of them.

    Hashes are stored for the blocks that are 0, 1, 3, 7, 15 … blocks below `head`. After a reorganisation of n blocks
    the index therefore goes back at most 2 n + 1 blocks.
    """
    found = {last}
    distance = 0
    while head - distance >= first:
        if head - distance <= last:
            found.add(head - distance)
        distance = 2 * distance + 1
    return sorted(found)


def undo_floor(last: int, head: int, depth: int) -> int:
    """Return the lowest block to which an index that ends at `last` can be rewound; -1 means to its very start.

    Blocks more than `depth` blocks below the chain's head count as final, and their undo entries are dropped.
    """
    return max(-1, min(last, max(last, head) - depth))
