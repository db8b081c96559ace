"""How long a write competes with others for the same rows."""

from __future__ import annotations

import asyncio

_RACES_S = 3.0


class Tries:
    """Ends after three seconds: in each round at least one of those that compete succeeds."""

    def __iter__(self) -> Tries:
        self._ends = asyncio.get_running_loop().time() + _RACES_S
        return self

    def __next__(self) -> None:
        if asyncio.get_running_loop().time() >= self._ends:
            raise StopIteration
