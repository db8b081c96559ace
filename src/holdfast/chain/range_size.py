"""Decides how many blocks to request at once from an endpoint whose limits are unknown."""

from __future__ import annotations

FIRST_SIZE = 1_000
MAX_SIZE = 100_000
# At about 700 bytes per log, 4,000 logs are far below the JSON-RPC client's limit of 8 MiB per response.
TARGET_LOGS = 4_000
_PATIENCE = 20


class RangeSize:
    """The size of the next eth_getLogs range in blocks, adapted to the endpoint's limits and the number of logs.

    Half of a refused size becomes the maximum, which rises again after twenty successful requests.
    """

    def __init__(self, first: int = FIRST_SIZE, largest: int = MAX_SIZE) -> None:
        self.value = min(first, largest)
        self._largest = largest
        self._ceiling = largest
        self._granted = 0

    def granted(self, blocks: int, logs: int) -> None:
        """Record that the endpoint returned `logs` logs for a range of `blocks` blocks."""
        self._granted += 1
        if self._granted >= _PATIENCE:
            self._granted, self._ceiling = 0, min(self._ceiling * 2, self._largest)
        if logs > TARGET_LOGS:
            self.value = max(1, blocks * TARGET_LOGS // (2 * logs))
        elif blocks >= self.value and logs <= TARGET_LOGS // 4:
            self.value = min(self.value * 2, self._ceiling)

    def refused(self, blocks: int) -> None:
        """Record that a range of `blocks` blocks was too large."""
        self.value = self._ceiling = max(1, blocks // 2)
        self._granted = 0
