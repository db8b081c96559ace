"""Builds the service: its operations and their providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.addresses import AddressHashes
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.service.bootstrap.events import event_deliveries
from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.bootstrap.senders import configured_mailer, configured_sms
from holdfast.service.bootstrap.snapshots import snapshot_access, snapshots_of
from holdfast.service.bootstrap.sponsors import sponsors_of
from holdfast.service.bootstrap.upstreams import (
    accounts_of,
    bundler_of,
    chain_readers,
    configured_indexer,
    confirmations_of,
    resolution_of,
)
from holdfast.service.clock import system_clock, system_entropy
from holdfast.service.enclave_source.bundled import bundled_enclave
from holdfast.service.enclave_source.source import EnclaveSource
from holdfast.service.lifecycle.service import Service
from holdfast.service.operations.accounts import Balances
from holdfast.service.operations.admission import Admission
from holdfast.service.operations.chains import Chains, OnChain
from holdfast.service.operations.dids import Dids
from holdfast.service.operations.guarding import Guarding, RecoveryChain
from holdfast.service.operations.idempotency import Idempotency
from holdfast.service.operations.maintenance import Maintenance
from holdfast.service.operations.measuring import Measuring
from holdfast.service.operations.persons import AddressProofs, Persons
from holdfast.service.operations.readiness import Readiness
from holdfast.service.operations.reading_rate import ReadingRate
from holdfast.service.operations.recovery_events import IndexedEvents, LoggedEvents
from holdfast.service.operations.recovery_mails import RecoveryMails, WatchedChain
from holdfast.service.operations.relay import Relay
from holdfast.service.operations.reserved_names import ReservedNames
from holdfast.service.operations.sessions import Sessions
from holdfast.service.operations.sponsor_settlement import SponsorSettlement
from holdfast.service.operations.status import ServiceStatus
from holdfast.service.operations.verification import Verification
from holdfast.service.settings.chains import served_chains
from holdfast.service.settings.values import engine_configured
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.service.workflow.engine import InngestWorkflow
from holdfast.settings.rows import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.rules.chains import Chain
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.mail.port import Mailer
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.operations.sponsor import Sponsor
    from holdfast.service.settings.chains import Served
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.sms.port import SmsSender, SmsVerifier
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.chain_rpc import ChainReader
    from holdfast.service.upstreams.indexer import Indexer


def build_service(
    settings: Settings,
    secrets: Secrets,
    store: Store,
    clock: Clock = system_clock,
    entropy: Entropy = system_entropy,
    mailer: Mailer | None = None,
    sms: SmsVerifier | SmsSender | None = None,
) -> Service:
    """Return a service that uses the given store. A `mailer` or `sms` argument replaces the configured provider."""
    pools = ConnectionPools()
    mailer = mailer or configured_mailer(settings, pools)
    sms = sms or configured_sms(settings, pools, clock, entropy)
    served, chains = served_chains(settings), chain_readers(settings, pools)
    sponsors = sponsors_of(settings, secrets, store, chains, pools, clock)
    on_chains = _on_chains(settings, served, store, chains, pools, clock, sponsors)
    main = on_chains[settings.chain]
    reserved = _reserved_names(settings)
    confirmations = confirmations_of(settings, store, pools, clock)
    admission = Admission(store, settings.registration, secrets.invitation_keys, clock)
    sessions = Sessions(store, reserved.current, settings.registrar_did, settings.limits, clock, admission)
    maintenance = Maintenance(store, confirmations, clock, Pseudonyms(secrets.pseudonym_key), settings.audit_days)
    verification = Verification(
        store, mailer, sms, secrets, settings.registrar_did, settings.limits, settings.ceilings, clock, entropy
    )
    indexer = configured_indexer(settings, pools.of("indexer"))
    recoveries = RecoveryChain(main.accounts, settings.contract_did_registry)
    return Service(
        store=store,
        sessions=sessions,
        verification=verification,
        guarding=Guarding(store.recoveries, verification, recoveries, secrets.guardian_keys, settings.guardian_wait),
        recovery_mails=RecoveryMails(
            store.recoveries, mailer, recoveries, _watched(indexer, recoveries, on_chains), clock
        ),
        dids=_dids(settings, secrets, sessions, confirmations),
        accounts=main.accounts,
        balances=Balances(chains, {chain_id: chain.usdc for chain_id, chain in served.chains.items() if chain.usdc}),
        chains=Chains(settings.chain, on_chains),
        resolution=resolution_of(settings, chains[settings.chain], store),
        persons=_persons(settings, secrets, store, clock),
        addresses=AddressHashes(secrets.address_key),
        chain_reads=ReadingRate(settings.chain_reads_per_address_minute, clock),
        relay=main.relay,
        idempotency=Idempotency(store, secrets, settings.ceilings, clock, entropy),
        status=ServiceStatus(store, served.main, Readiness(store)),
        indexer=indexer,
        workflow=InngestWorkflow(maintenance, settings.public_url),
        maintenance=maintenance,
        events=event_deliveries(settings, store, pools, clock),
        measuring=Measuring(store, settings.data_dir, clock),
        enclaves=named_setting("HOLDFAST_ENCLAVE_URL", EnclaveSource, settings.enclave_url, bundled_enclave()),
        reserved=reserved,
        snapshots=snapshots_of(settings, secrets, store, clock, entropy),
        engine=engine_configured(),
        clock=clock,
        senders=(mailer, sms),
        sponsors=SponsorSettlement(sponsors, settings.confirmation_depth),
        close_pools=pools.close,
    )


def _on_chains(
    settings: Settings,
    served: Served,
    store: Store,
    readers: Mapping[int, ChainReader],
    pools: ConnectionPools,
    clock: Clock,
    sponsors: Mapping[int, Sponsor],
) -> dict[int, OnChain]:
    def relay(chain: Chain) -> Relay:
        bundler = bundler_of(chain, served.main, pools)
        return Relay(bundler, store, settings.ceilings, clock, sponsors.get(chain.chain_id))

    return {
        chain_id: OnChain(chain, accounts_of(settings, readers[chain_id]), relay(chain))
        for chain_id, chain in served.chains.items()
    }


def _persons(settings: Settings, secrets: Secrets, store: Store, clock: Clock) -> Persons:
    access, proofs = snapshot_access(settings, store, clock), AddressProofs(secrets, settings.registrar_did)
    return Persons(store, access, Pseudonyms(secrets.pseudonym_key), clock, proofs)


def _dids(settings: Settings, secrets: Secrets, sessions: Sessions, confirmations: Confirmations) -> Dids:
    return Dids(
        store=sessions.store,
        sessions=sessions,
        confirmations=confirmations,
        secrets=secrets,
        registrar=settings.registrar_did,
        limits=settings.limits,
        ceilings=settings.ceilings,
        clock=sessions.clock,
        proof_required=settings.registration_proof == "required",
    )


def _watched(
    indexer: Indexer | None, main: RecoveryChain, on_chains: Mapping[int, OnChain]
) -> tuple[WatchedChain, ...]:
    """Return where recoveries are looked for: the main chain, which the indexer follows, and all others of the service.

    Without an indexer none are, because an operator must choose to have chains asked all day.
    """
    if indexer is None:
        return ()
    first, *others = on_chains.items()
    watched = [WatchedChain(first[0], main, IndexedEvents(indexer))]
    for chain_id, on_chain in others:
        accounts = RecoveryChain(on_chain.accounts, main.registry)
        watched.append(WatchedChain(chain_id, accounts, LoggedEvents(on_chain.accounts.chain)))
    return tuple(watched)


def _reserved_names(settings: Settings) -> ReservedNames:
    try:
        return ReservedNames(settings.reserved_file, settings.reserved_allow_file)
    except ValueError as error:
        raise SettingError(str(error)) from error
