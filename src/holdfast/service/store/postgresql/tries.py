"""Limits how often a write is retried while other transactions are changing the same rows."""

from __future__ import annotations

import asyncio

_RACES_S = 3.0
_LEAST = 10


class Tries:
    """Allows tries for three seconds, and at least ten, because a slow database takes a second for one.

    In each round at least one of the competing writes succeeds.
    """

    def __iter__(self) -> Tries:
        self._ends = asyncio.get_running_loop().time() + _RACES_S
        self._left = _LEAST
        return self

    def __next__(self) -> None:
        if self._left <= 0 and asyncio.get_running_loop().time() >= self._ends:
            raise StopIteration
        self._left -= 1
