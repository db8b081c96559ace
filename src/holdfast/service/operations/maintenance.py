"""Periodic work, which the service does itself unless a workflow engine does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.service.clock import Clock
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.store.port import Store

ENGINE = "engine"  # name and holder of the lease, which any process renews when the engine calls it
ENGINE_LEASE_S = 600.0  # after so long without a registration or finished run, the service does the work again


@dataclass(frozen=True, slots=True)
class Maintenance:
    """The two periodic jobs, and whether the workflow engine is currently doing them.

    Attributes:
        pseudonyms: hashes the names in the audit after `audit_days` days; 0: never.
    """

    store: Store
    confirmations: Confirmations
    clock: Clock
    pseudonyms: Pseudonyms
    audit_days: int

    async def confirm_registrations(self) -> dict[str, int]:
        """Confirm or refuse pending registrations according to the chain."""
        return await self.confirmations.confirm_all()

    async def engine_seen(self, at: float | None) -> None:
        """Leave the work to the workflow engine for ten minutes, because it registered the jobs or finished a run.

        `at`: when it signed the call that shows this. One that a stranger repeats later does not prolong the time.
        """
        now = self.clock()
        await self.store.take_lease(ENGINE, ENGINE, now if at is None else min(at, now), ENGINE_LEASE_S)

    def unless_engine(self, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """Return a job that does `work`, except while the workflow engine is doing it."""

        async def by_itself() -> object:
            return None if await self.store.holds_lease(ENGINE, ENGINE, self.clock()) else await work()

        return by_itself

    async def expire(self) -> dict[str, int]:
        """Remove codes, verifications and records of sent codes that no rule reads any more; hide old names."""
        now = self.clock()
        removed = await self.store.expire(now)
        if self.audit_days == 0:
            return {"removed": removed}
        return {
            "removed": removed,
            "hidden": await self.store.hide_names(self.pseudonyms, now - self.audit_days * DAY_S),
        }
