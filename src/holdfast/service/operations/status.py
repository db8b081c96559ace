"""The service's status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.wire.models import Status

if TYPE_CHECKING:
    from holdfast.rules.chains import Chain
    from holdfast.service.operations.readiness import Readiness
    from holdfast.service.store.port import Store


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Status and readiness. `chain` is the main chain; its `public_rpc` is shown."""

    store: Store
    chain: Chain
    readiness: Readiness

    async def report(self) -> Status:
        """Return the body of GET /api/status."""
        try:
            await self.store.ping()
            database = "connected"
        except StoreUnavailable:
            database = "unavailable"
        chain = self.chain
        return Status(chain=chain.name, chain_id=chain.chain_id, rpc=chain.shown_rpc, database=database)

    async def ready(self) -> None:
        """Raise StoreUnavailable unless the store reads and writes and all its migrations are done."""
        await self.readiness.check()
