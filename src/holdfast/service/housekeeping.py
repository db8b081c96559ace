"""What runs beside the requests: confirmation, expiry, the reserved list, the latest enclave."""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.clock import Clock
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.housekeeping")
EXPIRE_EVERY_S = 60.0
LEASE_S = 120.0
ENGINE = "engine"  # lease and holder: any process that hears of the engine renews it for all
ENGINE_LEASE_S = 600.0  # after as long without a registration or a finished run, the service does the chores again


@dataclass(frozen=True, slots=True)
class Chores:
    """The two operations that a workflow engine may call, and that run by themselves where none is set up."""

    store: Store
    confirmations: Confirmations
    clock: Clock

    async def confirm_registrations(self) -> dict[str, int]:
        """Settle pending registrations by the chain's word."""
        return await self.confirmations.confirm_all()

    async def engine_seen(self) -> None:
        """Leave the chores to the workflow engine for a while: it has registered, or finished a run."""
        await self.store.take_lease(ENGINE, ENGINE, self.clock(), ENGINE_LEASE_S)

    def unless_engine(self, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """`work`, left out while the engine does it."""

        async def by_itself() -> object:
            return None if await self.store.holds_lease(ENGINE, ENGINE, self.clock()) else await work()

        return by_itself

    async def expire(self) -> dict[str, int]:
        """Remove codes, used marks and send records that no rule looks at any more."""
        return {"removed": await self.store.expire(self.clock())}


def periodic(name: str, every_s: float, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
    """Run `work` again and again; a failure is logged and the next turn comes all the same."""
    return asyncio.create_task(_repeat(name, every_s, work), name=f"holdfast-{name}")


def under_lease(
    store: Store, clock: Clock, name: str, work: Callable[[], Awaitable[object]]
) -> Callable[[], Awaitable[object]]:
    """`work`, done only by the one process that holds the lease of this name."""
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
            _log.warning("chore put off: store unavailable", extra={"kind": name, "why": str(error)})
        except Exception:  # noqa: BLE001 - one bad turn must not end the chore
            _log.exception("chore failed", extra={"kind": name})
