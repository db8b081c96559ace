"""Limits how long a write is retried while other transactions change the same rows."""

from __future__ import annotations

import asyncio

_RACES_S = 3.0


class Tries:
    """Allows tries for three seconds. In each round at least one of the competing writes succeeds."""

    def __iter__(self) -> Tries:
        self._ends = asyncio.get_running_loop().time() + _RACES_S
        return self

    def __next__(self) -> None:
        if asyncio.get_running_loop().time() >= self._ends:
            raise StopIteration
