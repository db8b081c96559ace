"""Refuses writes while this machine's clock differs from the database server's, because limits depend on the time."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import reads
from holdfast.service.store.postgresql.batcher import Batcher

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from holdfast.service.store.postgresql.batches import Argument, Kind, Result
    from holdfast.service.store.postgresql.connection import StoreConnection

_log = logging.getLogger("holdfast.store")
MAX_OFFSET_S = 60.0
EVERY_S = 10.0
_STEP_S = 1.0  # a clock that moved by so much against the monotonic clock was set


class ClockGuard:
    """Compares the clocks every ten seconds while there are writes, and immediately after this machine's was set."""

    def __init__(self, questions: Batcher) -> None:
        """`questions` reads from the server."""
        self._questions = questions
        self._read_at: float | None = None
        self._base = 0.0
        self._offset_s = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def require(self) -> None:
        """Raise StoreUnavailable if the clocks differ by more than a minute.

        While the server does not respond, the last comparison counts.
        """
        if not self._is_current():
            self._asking = self._asking or asyncio.create_task(self._ask())
            await asyncio.shield(self._asking)
        if abs(self._offset_s) > MAX_OFFSET_S:
            way = "ahead of" if self._offset_s > 0 else "behind"
            raise StoreUnavailable(f"this machine's clock is {abs(self._offset_s):.0f} s {way} the database server's")

    def _is_current(self) -> bool:
        now = time.monotonic()
        moved = abs(wall() - now - self._base)
        return self._read_at is not None and now - self._read_at < EVERY_S and moved < _STEP_S

    async def _ask(self) -> None:
        try:
            before = wall()
            server_now = (await self._questions.ask(reads.SERVER, ()))[0][1]
            after, now = wall(), time.monotonic()
            # The server read its clock at some moment in between, so a slow response does not count as an offset.
            self._offset_s = max(0.0, before - server_now) or min(0.0, after - server_now)
            self._read_at, self._base = now, after - now
            if abs(self._offset_s) > MAX_OFFSET_S:
                _log.error("clock off: writes are refused", extra={"offset_s": round(self._offset_s)})
        except StoreUnavailable:
            return
        finally:
            self._asking = None


def wall() -> float:
    """Return this machine's time, in seconds since the epoch."""
    return time.time()


class GuardedBatcher(Batcher):
    """A Batcher that sends nothing while the clocks differ."""

    def __init__(self, connections: Sequence[StoreConnection], work: str, clock: ClockGuard) -> None:
        super().__init__(connections, work)
        self._clock = clock

    async def ask(self, kind: Kind[Argument, Result], argument: Argument, keys: Sequence[Hashable] = ()) -> Result:
        """See Batcher. Raises StoreUnavailable if the clocks differ by more than a minute, too."""
        await self._clock.require()
        return await super().ask(kind, argument, keys)
