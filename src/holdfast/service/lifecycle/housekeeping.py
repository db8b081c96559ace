"""Repeats background jobs; a job under a lease runs in only one of several processes."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics, tracing
from holdfast.wire.request_ids import REQUEST_ID, draw_request_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.housekeeping")
EXPIRE_EVERY_S = 60.0
# A killed process keeps its jobs for so long. Less would end under a running job: the clock of each of two nodes may be
# a minute off the database's.
LEASE_S = 120.0
# What only a lease's holder measures: the values of one that lost the lease are old.
_OF_HOLDER = {"sponsor": (metrics.SPONSOR_DEPOSIT, metrics.SPONSOR_LOW)}


def periodic(name: str, every_s: float, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
    """Run `work` repeatedly. If a run fails, the error is logged, and the next run takes place as usual.

    Like a request, each run has an ID in the log: the job's name and eight hexadecimal digits.
    """
    return asyncio.create_task(_repeat(name, every_s, work), name=f"holdfast-{name}")


class Leases:
    """The leases of this process: one for each job that runs in only one of several processes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._names: set[str] = set()

    def under_lease(self, name: str, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """Return a job that does `work` only in the process that holds the lease with this name."""
        run = counted(name, work)

        async def leased() -> object:
            self._names.add(name)  # first, because a lease may also be taken if no response arrives
            held = await self._store.take_lease(name, self._holder, self._clock(), LEASE_S)
            metrics.LEASES_HELD.set(float(held), name)
            if held:
                return await run()
            for gauge in _OF_HOLDER.get(name, ()):
                gauge.cells.clear()
            return None

        return leased

    async def end(self) -> None:
        """End all leases, so that another process, or this one after a restart, does not wait until they expire."""
        _begin("stop")
        try:
            for name in self._names:
                await self._store.end_lease(name, self._holder)
        except StoreUnavailable as error:
            _log.warning("leases are not ended: store unavailable", extra={"why": str(error)})


def counted(name: str, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    """Return a job that does `work` and counts, times and traces each run; `name` comes from the table of metrics."""

    async def run() -> object:
        began, outcome = time.perf_counter(), "failed"
        try:
            with tracing.inner(f"job {name}"):
                result = await work()
            outcome = "done"
            metrics.JOB_SUCCESS.set(time.time(), name)
        finally:
            metrics.JOB_RUNS.add(name, outcome)
            metrics.JOB_SECONDS.observe(time.perf_counter() - began, name)
        return result

    return run


def _begin(name: str) -> None:
    """Give the lines of one piece of work their own ID, as those of a request have."""
    REQUEST_ID.set(f"{name}-{draw_request_id()[:8]}".replace(" ", "-"))


async def _repeat(name: str, every_s: float, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        await asyncio.sleep(every_s)
        _begin(name)
        try:
            await work()
        except StoreUnavailable as error:
            _log.warning("work put off: store unavailable", extra={"kind": name, "why": str(error)})
        except Exception:  # noqa: BLE001 - a failed run must not stop the job
            _log.exception("work failed", extra={"kind": name})
