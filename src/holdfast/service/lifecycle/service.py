"""The assembled service: its operations, their providers, startup and shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.limits import CONFIRM_EVERY_S
from holdfast.service.lifecycle.housekeeping import EXPIRE_EVERY_S, Leases, counted, periodic
from holdfast.service.lifecycle.warm_up import warm_up
from holdfast.service.operations.events import DELIVER_EVERY_S
from holdfast.service.operations.measuring import MEASURE_EVERY_S
from holdfast.service.operations.recovery_mails import SEND_EVERY_S
from holdfast.service.operations.sponsor_settlement import SETTLE_EVERY_S
from holdfast.service.telemetry import metrics
from holdfast.service.telemetry.reporting import Telemetry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.rules.addresses import AddressHashes
    from holdfast.service.clock import Clock
    from holdfast.service.enclave_source.port import EnclaveProvider
    from holdfast.service.mail.port import Mailer
    from holdfast.service.operations.accounts import Accounts, Balances
    from holdfast.service.operations.chains import Chains
    from holdfast.service.operations.dids import Dids
    from holdfast.service.operations.events import EventDelivery
    from holdfast.service.operations.guarding import Guarding
    from holdfast.service.operations.idempotency import Idempotency
    from holdfast.service.operations.maintenance import Maintenance
    from holdfast.service.operations.measuring import Measuring
    from holdfast.service.operations.persons import Persons
    from holdfast.service.operations.reading_rate import ReadingRate
    from holdfast.service.operations.recovery_mails import RecoveryMails
    from holdfast.service.operations.relay import Relay
    from holdfast.service.operations.reserved_names import ReservedNames
    from holdfast.service.operations.resolution import Resolution
    from holdfast.service.operations.sessions import Sessions
    from holdfast.service.operations.snapshots import Snapshots
    from holdfast.service.operations.sponsor_settlement import SponsorSettlement
    from holdfast.service.operations.status import ServiceStatus
    from holdfast.service.operations.verification import Verification
    from holdfast.service.sms.port import SmsSender, SmsVerifier
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.indexer import Indexer
    from holdfast.service.workflow.port import Workflow

_log = logging.getLogger("holdfast.service")
REREAD_EVERY_S = 1.0
REFRESH_ENCLAVE_EVERY_S = 60.0


@dataclass(slots=True, kw_only=True)
class Service:
    """The operations and their providers, which bootstrap/ chooses."""

    store: Store
    sessions: Sessions
    verification: Verification
    dids: Dids
    accounts: Accounts
    balances: Balances
    chains: Chains
    resolution: Resolution
    persons: Persons
    guarding: Guarding
    recovery_mails: RecoveryMails
    addresses: AddressHashes
    chain_reads: ReadingRate
    relay: Relay
    idempotency: Idempotency
    status: ServiceStatus
    indexer: Indexer | None
    workflow: Workflow
    maintenance: Maintenance
    measuring: Measuring
    events: tuple[EventDelivery, ...]
    enclaves: EnclaveProvider
    reserved: ReservedNames
    snapshots: Snapshots | None
    engine: bool
    clock: Clock
    sponsors: SponsorSettlement
    senders: tuple[Mailer | SmsVerifier | SmsSender, ...]
    close_pools: Callable[[], Awaitable[None]]
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _telemetry: Telemetry = field(default_factory=Telemetry)
    _leases: Leases = field(init=False)

    def __post_init__(self) -> None:
        self._leases = Leases(self.store, self.clock)

    async def start(self) -> None:
        """Start the background jobs."""
        self._telemetry.start([self.store.update_gauges])
        if self.indexer is not None:
            await self.indexer.start()
        self._listen_for_hangup()
        self._tasks.append(warm_up(engine=self.engine))
        self._tasks.append(periodic("reserved", REREAD_EVERY_S, counted("reserved", self._reread)))
        self._tasks.append(asyncio.create_task(self._first_enclave()))
        self._tasks.append(periodic("enclave", REFRESH_ENCLAVE_EVERY_S, counted("enclave", self.enclaves.refresh)))
        for name, every_s, work in (
            ("confirm", CONFIRM_EVERY_S, self.maintenance.confirm_registrations),
            ("expire", EXPIRE_EVERY_S, self.maintenance.expire),
        ):
            leased = self._leases.under_lease(name, self.maintenance.unless_engine(work))
            self._tasks.append(periodic(name, every_s, leased))
        mails = self._leases.under_lease("recoveries", self.recovery_mails.run)
        self._tasks.append(periodic("recoveries", SEND_EVERY_S, mails))

        for delivery in self.events:
            await delivery.subscribe()
            leased = self._leases.under_lease(f"events_{delivery.name}", delivery.run)
            self._tasks.append(periodic(f"events_{delivery.name}", DELIVER_EVERY_S, leased))

        if self.snapshots is not None:
            collect = self._leases.under_lease("snapshots", self.snapshots.collect)
            self._tasks.append(periodic("snapshots", EXPIRE_EVERY_S, collect))
            # This job runs in every process, because each machine has a spool folder for uploads.
            self._tasks.append(periodic("uploads", EXPIRE_EVERY_S, self.snapshots.uploads.waste.sweep))
        if self.sponsors.sponsors:
            settle = self._leases.under_lease("sponsor", self.sponsors.run)
            self._tasks.append(periodic("sponsor", SETTLE_EVERY_S, settle))
        if metrics.enabled():
            self._tasks.append(periodic("measure", MEASURE_EVERY_S, counted("measure", self.measuring.measure)))

    async def stop(self) -> None:
        """Stop the background jobs and end their leases, then close the connections and the store."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._leases.end()
        if self.indexer is not None:
            await self.indexer.stop()
        for sender in self.senders:
            await sender.close()
        await self.workflow.close()
        await self.close_pools()
        await self.store.close()
        await self._telemetry.stop()

    async def _reread(self) -> None:
        self.reserved.refresh()

    async def _first_enclave(self) -> None:
        await self.enclaves.refresh()

    def _listen_for_hangup(self) -> None:
        """Re-read the reserved names on SIGHUP.

        Only the main thread receives signals; tests run services in other threads.
        """
        try:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, lambda: self.reserved.refresh(force=True))
        except (ValueError, RuntimeError, NotImplementedError):
            _log.debug("no signals here")
