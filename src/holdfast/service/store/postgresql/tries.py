"""Limits how often a write is retried while other transactions are changing the same rows."""

from __future__ import annotations

import asyncio

from holdfast.service.store.port import StoreUnavailable

_LEAST = 10


class Tries:
    """Allows tries for some seconds, and at least ten, because a slow database takes a second for one.

    In each round at least one of the competing writes succeeds.
    """

    def __init__(self, within_s: float = 3.0) -> None:
        self._within_s = within_s

    def __iter__(self) -> Tries:
        self._ends = asyncio.get_running_loop().time() + self._within_s
        self._left = _LEAST
        return self

    def __next__(self) -> None:
        if self._left <= 0 and asyncio.get_running_loop().time() >= self._ends:
            raise StopIteration
        self._left -= 1


def crowded() -> StoreUnavailable:
    """Return the error after the last try."""
    return StoreUnavailable("too many others wrote the same rows")
