"""Whether a node can serve requests: GET /readyz."""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.store.port import Store

WRITTEN_EVERY_S = 1.0
WRITTEN_WITHIN_S = 3.0
_NAME = "readiness"
# The size that a registration writes: on a full disk, a shorter row may still fit into the log's allocated space.
_HOLDER_BYTES = 48 * 1024
_DISTINCT_BYTES = 4
_NO_ONE = ""  # no identifier has this key


class Readiness:
    """Does what requests do: reads a row, and writes one, and sees whether tables have room to grow.

    A write costs a disk flush, so requests within a second share one.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.monotonic) -> None:
        """`now` returns the seconds of a clock that is never set."""
        self._store = store
        self._now = now
        self._writing: asyncio.Task[bool] | None = None
        self._next_at = 0.0

    async def check(self) -> None:
        """Raise StoreUnavailable unless all migrations are done and the store reads and writes."""
        await self._store.ping()
        await self._store.claim_of("handle", _NO_ONE)
        writing = self._latest_write()
        done, _ = await asyncio.wait([writing], timeout=WRITTEN_WITHIN_S)
        if not done:
            raise StoreUnavailable("a write gets no answer")
        if (error := writing.exception()) is not None:
            raise StoreUnavailable(str(error)) from error

    def _latest_write(self) -> asyncio.Task[bool]:
        if self._writing is None or (self._writing.done() and self._now() >= self._next_at):
            self._next_at = self._now() + WRITTEN_EVERY_S
            # An empty context, because the write belongs to no request.
            self._writing = asyncio.get_running_loop().create_task(self._write(), context=contextvars.Context())
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._writing

    async def _write(self) -> bool:
        """Write a lease that has expired already; every node may take it.

        Its holder differs each time: SQLite writes no page whose bytes stay the same, also on a full disk.
        """
        distinct = os.urandom(_DISTINCT_BYTES).hex()
        await self._store.require_room()
        return await self._store.take_lease(_NAME, distinct * (_HOLDER_BYTES // len(distinct)), 0.0, 0.0)
