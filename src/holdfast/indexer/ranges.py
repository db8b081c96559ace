"""How many blocks to ask for at a time, and which of their hashes to keep: pure rules."""

from __future__ import annotations

FIRST_SIZE = 1_000
MAX_SIZE = 100_000
# At some 700 bytes a log this stays far below the 8 MiB that the JSON-RPC client takes as one answer.
TARGET_LOGS = 4_000


class RangeSize:
    """The size of the next eth_getLogs range in blocks; it follows what the endpoint grants and what the blocks hold.

    A size that was refused is a ceiling: only after some granted ranges is a larger one tried again.
    """

    def __init__(self, first: int = FIRST_SIZE, largest: int = MAX_SIZE) -> None:
        self.value = min(first, largest)
        self._largest = largest
        self._ceiling = largest
        self._granted = 0

    def granted(self, blocks: int, logs: int) -> None:
        """Take note of an answer for `blocks` blocks with `logs` logs."""
        self._granted += 1
        if self._granted >= _PATIENCE:
            self._granted, self._ceiling = 0, min(self._ceiling * 2, self._largest)
        if logs > TARGET_LOGS:
            self.value = max(1, blocks * TARGET_LOGS // (2 * logs))
        elif blocks >= self.value and logs <= TARGET_LOGS // 4:
            self.value = min(self.value * 2, self._ceiling)

    def refused(self, blocks: int) -> None:
        """Take note that `blocks` blocks were too many."""
        self.value = self._ceiling = max(1, blocks // 2)
        self._granted = 0


_PATIENCE = 20


def marks(first: int, last: int, head: int) -> list[int]:
    """The blocks of a range whose hashes are kept, ascending; `last` is always one of them.

    They lie 0, 1, 3, 7, 15 … blocks below `head`, so that after any range the fork of a reorganisation of n blocks is
    found at most 2 n + 1 blocks deep.
    """
    found = {last}
    distance = 0
    while head - distance >= first:
        if head - distance <= last:
            found.add(head - distance)
        distance = 2 * distance + 1
    return sorted(found)


def undo_floor(last: int, head: int, depth: int) -> int:
    """The deepest block to which an index that ends at `last` can be taken back, -1 where that is its very start.

    Blocks more than `depth` below the chain's head count as final; their undo entries are not kept.
    """
    return max(-1, min(last, max(last, head) - depth))
