"""Builds the application from settings and secrets, and chooses every provider. No other module chooses providers."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import holdfast
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID
from holdfast.service.clock import system_clock, system_entropy
from holdfast.service.enclave_source.source import EnclaveSource
from holdfast.service.http.client_address import ClientAddress
from holdfast.service.mail.choice import mailer_of
from holdfast.service.operations.accounts import Accounts, Balances
from holdfast.service.operations.confirmation import Confirmations
from holdfast.service.operations.controllers import Controllers
from holdfast.service.operations.dids import Dids
from holdfast.service.operations.maintenance import Maintenance
from holdfast.service.operations.measuring import Measuring
from holdfast.service.operations.reading_rate import ReadingRate
from holdfast.service.operations.relay import Relay
from holdfast.service.operations.repeats import Repeats
from holdfast.service.operations.sessions import Sessions
from holdfast.service.operations.snapshot_access import SnapshotAccess
from holdfast.service.operations.snapshot_names import SnapshotNames
from holdfast.service.operations.snapshot_pins import SnapshotPins
from holdfast.service.operations.snapshot_reading import SnapshotReading
from holdfast.service.operations.snapshot_uploads import SnapshotUploads
from holdfast.service.operations.snapshot_waste import SnapshotWaste, Strays
from holdfast.service.operations.snapshots import Snapshots
from holdfast.service.operations.status import ServiceStatus
from holdfast.service.operations.verification import Verification
from holdfast.service.reserved_names import ReservedNames
from holdfast.service.service import Service
from holdfast.service.sms.choice import sms_verifier_of
from holdfast.service.snapshots.delegate import delegate_of
from holdfast.service.snapshots.object_blocks import ObjectBlocks
from holdfast.service.store.kinds import database_of
from holdfast.service.store.waiting import open_when_reachable
from holdfast.service.upstreams.bundler import BundlerProxy
from holdfast.service.upstreams.chain_rpc import ChainReader, CountedTransport
from holdfast.service.upstreams.indexer import IndexerAddress, IndexerBinding
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.service.web.application import Application
from holdfast.service.web.context import WebContext
from holdfast.service.web.page_files import PageChoices, page_files
from holdfast.service.web.prepared import PaymentFacts, prepare
from holdfast.service.workflow.engine import InngestWorkflow, engine_configured
from holdfast.settings.rows import SettingError
from holdfast.wire.encoding import from_hex
from holdfast.wire.models import ContractSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from holdfast.chain.rpc import RpcClient
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.mail.port import Mailer
    from holdfast.service.secrets import Secrets
    from holdfast.service.settings import Settings
    from holdfast.service.sms.port import SmsVerifier
    from holdfast.service.snapshots.port import BlockStorage
    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.indexer import Indexer
    from holdfast.service.web.page_files import PageFiles


_log = logging.getLogger("holdfast.start")
BLOCKS_STAY_HERE = (
    "snapshots: their blocks lie in a folder of this machine, while the database is PostgreSQL; before a second node is"
    " started, set HOLDFAST_SNAPSHOTS_URL on every node to one bucket, or to one folder that all nodes share"
)
OUTBOX = "outbox"  # folders in the data folder
SPOOL = "uploads"


def build_application(settings: Settings, secrets: Secrets) -> Application:
    """Return the application for one process. Raises SettingError, SchemaTooNew or StoreUnavailable."""
    return application_of(settings, build_service(settings, secrets, open_store_when_reachable(settings)))


def application_of(settings: Settings, service: Service) -> Application:
    """Return the web application for a service."""
    client_address = ClientAddress(settings.client_ip_header, settings.trusted_proxies)
    payments = PaymentFacts(settings.usdc_84532, shown_rpc(settings), settings.registrar_did)
    files = prepare(contract_set(settings), settings.related_origins, payments, _pages(settings))
    return Application(WebContext(service, files, client_address), access_log=settings.access_log == "on")


def _pages(settings: Settings) -> PageFiles | None:
    if settings.pages == "off":
        return None
    choices = PageChoices(
        name=settings.pages_name,
        colour=settings.pages_colour,
        logo=settings.pages_logo,
        address=settings.public_url,
        did=settings.registrar_did,
        rpc=shown_rpc(settings),
        usdc=settings.usdc_84532,
        languages=settings.pages_languages,
        code_seconds=settings.limits.email_code_expiry_seconds,
        code_tries=settings.limits.max_verify_attempts,
        pairing=settings.pairing_host,
    )
    made: PageFiles = _named("HOLDFAST_PAGES_LOGO", page_files, choices)
    return made


def database(settings: Settings) -> Database:
    """Return the database that HOLDFAST_DATABASE_URL names. Raises SettingError."""
    made: Database = _named("HOLDFAST_DATABASE_URL", database_of, settings.database_url)
    return made


def open_store(settings: Settings) -> Store:
    """Open the store that the database URL names. Raises SettingError, SchemaTooNew or StoreUnavailable."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return database(settings).open()


def open_store_when_reachable(settings: Settings) -> Store:
    """Open the store, and wait up to HOLDFAST_DATABASE_WAIT seconds for a database server that does not respond yet."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open_when_reachable(database(settings), settings.database_wait)


def build_service(
    settings: Settings,
    secrets: Secrets,
    store: Store,
    clock: Clock = system_clock,
    entropy: Entropy = system_entropy,
    mailer: Mailer | None = None,
    sms: SmsVerifier | None = None,
) -> Service:
    """Return a service that uses the given store. A `mailer` or `sms` argument replaces the configured provider."""
    pools = ConnectionPools()
    mailer = mailer or _mailer(settings, pools)
    sms = sms or _sms_verifier(settings, pools, clock, entropy)
    chains = {
        84532: ChainReader(lambda: _rpc("chain", settings.rpc_url, pools.of("chain"))),
        8453: ChainReader(lambda: _rpc("chain_8453", settings.rpc_url_8453, pools.of("chain 8453"))),
    }
    reserved = _reserved_names(settings)
    confirmations = _confirmations(settings, store, pools, clock)
    sessions = Sessions(store, reserved.current, settings.registrar_did, settings.limits, clock)
    maintenance = Maintenance(store, confirmations, clock)
    return Service(
        store=store,
        sessions=sessions,
        verification=Verification(
            store, mailer, sms, secrets, settings.registrar_did, settings.limits, settings.ceilings, clock, entropy
        ),
        dids=_dids(settings, secrets, sessions, confirmations),
        accounts=_accounts(settings, chains[DEFAULT_CHAIN_ID]),
        balances=Balances(chains, {84532: settings.usdc_84532, 8453: settings.usdc_8453}),
        relay=Relay(BundlerProxy(settings.bundler_url, pools.of("bundler")), store, settings.ceilings, clock),
        repeats=Repeats(store, secrets, settings.ceilings, clock, entropy),
        status=ServiceStatus(store, shown_rpc(settings)),
        indexer=_indexer(settings, pools.of("indexer")),
        workflow=InngestWorkflow(maintenance, settings.public_url),
        maintenance=maintenance,
        measuring=Measuring(store, settings.data_dir, clock),
        enclaves=_named("HOLDFAST_ENCLAVE_URL", EnclaveSource, settings.enclave_url, bundled_enclave()),
        reserved=reserved,
        snapshots=kept_snapshots(settings, secrets, store, clock, entropy),
        engine=engine_configured(),
        clock=clock,
        senders=(mailer, sms),
        close_pools=pools.close,
    )


def kept_snapshots(
    settings: Settings, secrets: Secrets, store: Store, clock: Clock, entropy: Entropy
) -> Snapshots | None:
    """Return the snapshot operations; None if snapshots are disabled. Raises SettingError."""
    if settings.snapshots == "off":
        return None
    if settings.blocks_stay_here:
        _log.warning(BLOCKS_STAY_HERE)
    index = store.snapshots
    blocks: BlockStorage = _named("HOLDFAST_SNAPSHOTS_URL", ObjectBlocks, settings.snapshots_url)
    limits, spool = settings.snapshot_limits, settings.data_dir / SPOOL
    return Snapshots(
        index=index,
        blocks=blocks,
        access=SnapshotAccess(store, index, settings.registrar_did, settings.snapshots_uploads_per_address_hour, clock),
        uploads=SnapshotUploads(
            index=index,
            blocks=blocks,
            spool=spool,
            waste=SnapshotWaste(index, blocks, spool, clock),
            free_bytes=settings.snapshots_free_bytes,
            limits=limits,
            clock=clock,
            entropy=entropy,
        ),
        pins=SnapshotPins(index, limits, clock, entropy),
        reading=SnapshotReading(index, blocks),
        names=SnapshotNames(index, clock),
        strays=Strays(index, blocks, clock),
        reads=ReadingRate(settings.snapshots_reads_per_address_minute, clock),
        delegate=delegate_of(settings.public_url, secrets.peer_key),
    )


def _mailer(settings: Settings, pools: ConnectionPools) -> Mailer:
    made: Mailer = _named(
        "HOLDFAST_MAIL_URL",
        mailer_of,
        settings.mail_url,
        settings.mail_from,
        pools.of("mail"),
        settings.data_dir / OUTBOX,
        settings.public_host,
    )
    return made


def _sms_verifier(settings: Settings, pools: ConnectionPools, clock: Clock, entropy: Entropy) -> SmsVerifier:
    outbox = settings.data_dir / OUTBOX
    made: SmsVerifier = _named(
        "HOLDFAST_SMS_URL",
        sms_verifier_of,
        settings.sms_url,
        pools.of("sms"),
        outbox,
        clock,
        entropy,
        settings.public_host,
    )
    return made


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


def _accounts(settings: Settings, chain: ChainReader) -> Accounts:
    factory, helper = settings.contract_app_factory, settings.contract_account_helper
    return Accounts(chain, factory, helper, settings.contract_entry_point)


def _confirmations(settings: Settings, store: Store, pools: ConnectionPools, clock: Clock) -> Confirmations:
    """Return what confirms registrations; it has a separate chain reader, so that it does not delay other reads."""
    chain = ChainReader(lambda: _rpc("chain", settings.rpc_url, pools.of("confirmations")))
    registry = from_hex(settings.contract_did_registry)
    controllers = Controllers(chain, registry, settings.contract_app_factory)
    return Confirmations(store, chain, registry, controllers, settings.confirmation_depth, clock)


def contract_set(settings: Settings) -> ContractSet:
    """Return the body of GET /api/contracts."""
    return ContractSet(
        chain_id=DEFAULT_CHAIN_ID,
        entry_point=settings.contract_entry_point,
        did_registry=settings.contract_did_registry,
        account_helper=settings.contract_account_helper,
        session_sbt=settings.contract_session_sbt,
        app_factory=settings.contract_app_factory,
    )


def shown_rpc(settings: Settings) -> str:
    """Return the chain's endpoint for /api/status, without the parts of its URL that may contain an API key."""
    if settings.public_rpc_url:
        return settings.public_rpc_url
    if settings.rpc_url in {chain.public_rpc for chain in CHAINS.values()}:
        return settings.rpc_url
    parts = urlsplit(settings.rpc_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def bundled_enclave() -> bytes:
    """Return this release's enclave."""
    # Read the file without importing its package: the import would load the WebAssembly runtime, which is not needed.
    file = Path(holdfast.__file__).parent / "enclave" / "enclave.wasm"
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingError("the bundled enclave is missing; install again, or run: make setup") from error


def _rpc(provider: str, url: str, session: Callable[[], ClientSession]) -> RpcClient:
    # Imported here, so that the HTTP client is loaded on the first request to a chain, not at startup.
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import AiohttpTransport

    return RpcClient(url, CountedTransport(provider, AiohttpTransport(session())))


def _indexer(settings: Settings, session: Callable[[], ClientSession]) -> Indexer | None:
    if settings.indexer_app:
        module, _, attribute = settings.indexer_app.partition(":")
        try:
            return IndexerBinding(getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise SettingError(f"HOLDFAST_INDEXER_APP: cannot be loaded ({type(error).__name__})") from error
    return IndexerAddress(settings.indexer_url, session) if settings.indexer_url else None


def _reserved_names(settings: Settings) -> ReservedNames:
    try:
        return ReservedNames(settings.reserved_file, settings.reserved_allow_file)
    except (OSError, ValueError) as error:
        raise SettingError(f"HOLDFAST_RESERVED_FILE or HOLDFAST_RESERVED_ALLOW_FILE: {error}") from error


def _named(name: str, make: Any, *arguments: Any) -> Any:
    """Return what `make` returns. If `make` raises ValueError, raise SettingError with the setting's name."""
    try:
        return make(*arguments)
    except ValueError as error:
        raise SettingError(f"{name}: {error}") from error
