"""Background jobs: how they are repeated, and how one of several processes does them."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.housekeeping")
EXPIRE_EVERY_S = 60.0
LEASE_S = 120.0


def periodic(name: str, every_s: float, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
    """Run `work` repeatedly. A failure is logged, and the next run still takes place."""
    return asyncio.create_task(_repeat(name, every_s, work), name=f"holdfast-{name}")


def under_lease(
    store: Store, clock: Clock, name: str, work: Callable[[], Awaitable[object]]
) -> Callable[[], Awaitable[object]]:
    """Return `work` for the one process that holds the lease of this name; in others it does nothing."""
    holder = f"{os.getpid()}-{os.urandom(6).hex()}"

    async def leased() -> object:
        if await store.take_lease(name, holder, clock(), LEASE_S):
            return await work()
        return None

    return leased


async def _repeat(name: str, every_s: float, work: Callable[[], Awaitable[object]]) -> None:
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
        except StoreUnavailable as error:
            _log.warning("work put off: store unavailable", extra={"kind": name, "why": str(error)})
        except Exception:  # noqa: BLE001 - a failed run must not stop the job
            _log.exception("work failed", extra={"kind": name})
