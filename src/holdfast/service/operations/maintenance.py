"""What is done regularly: by the service itself, or by a workflow engine where one is set up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.clock import Clock
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.store.port import Store

ENGINE = "engine"  # lease and holder: any process that hears of the engine renews it for all
ENGINE_LEASE_S = 600.0  # after as long without a registration or a finished run, the service does the work again


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Two operations, and whether the engine has taken them over."""

    store: Store
    confirmations: Confirmations
    clock: Clock

    async def confirm_registrations(self) -> dict[str, int]:
        """Settle pending registrations by the chain's word."""
        return await self.confirmations.confirm_all()

    async def engine_seen(self) -> None:
        """Leave the work to the workflow engine for a while: it has registered, or finished a run."""
        await self.store.take_lease(ENGINE, ENGINE, self.clock(), ENGINE_LEASE_S)

    def unless_engine(self, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """`work`, left out while the engine does it."""

        async def by_itself() -> object:
            return None if await self.store.holds_lease(ENGINE, ENGINE, self.clock()) else await work()

        return by_itself

    async def expire(self) -> dict[str, int]:
        """Remove codes, used marks and send records that no rule looks at any more."""
        return {"removed": await self.store.expire(self.clock())}
