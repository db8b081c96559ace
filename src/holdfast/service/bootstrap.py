"""The only place that chooses providers: settings and secrets in, an application out."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import holdfast
from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID
from holdfast.service.clock import system_clock, system_entropy
from holdfast.service.housekeeping import Chores
from holdfast.service.operations.accounts import Accounts, Balances
from holdfast.service.operations.confirmation import Confirmations
from holdfast.service.operations.controllers import Controllers
from holdfast.service.operations.dids import Dids
from holdfast.service.operations.relay import Relay
from holdfast.service.operations.sessions import Sessions
from holdfast.service.operations.verification import Verification
from holdfast.service.providers.enclave_source import EnclaveSource
from holdfast.service.providers.mailer import mailer_of
from holdfast.service.providers.sms_verifier import sms_verifier_of
from holdfast.service.providers.sqlite_store import SqliteStore
from holdfast.service.providers.workflow import Workflow, engine_configured
from holdfast.service.reserved_names import ReservedNames
from holdfast.service.service import Service
from holdfast.service.upstreams.bundler import BundlerProxy
from holdfast.service.upstreams.chain_rpc import ChainReader
from holdfast.service.upstreams.indexer import IndexerAddress, IndexerBinding
from holdfast.service.upstreams.pool import ConnectionPools
from holdfast.service.web.application import Application
from holdfast.service.web.client_ip import ClientAddress
from holdfast.service.web.files import prepare
from holdfast.settings.rows import SettingError
from holdfast.wire.encoding import from_hex
from holdfast.wire.models import ContractSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from holdfast.chain.rpc import RpcClient
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.metrics import Metrics
    from holdfast.service.ports import Store
    from holdfast.service.secrets import Secrets
    from holdfast.service.settings import Settings
    from holdfast.service.upstreams.indexer import Indexer


def build_application(settings: Settings, secrets: Secrets, metrics: Metrics | None = None) -> Application:
    """The application of one process. Raises SettingError, SchemaTooNew or StoreUnavailable."""
    return Application(build_service(settings, secrets, open_store(settings)), metrics)


def open_store(settings: Settings) -> Store:
    """The store that the database URL names."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SqliteStore(database_file(settings))


def database_file(settings: Settings) -> Path:
    """The embedded database's file: `sqlite:///` and a path, absolute with a fourth slash."""
    path = settings.database_url.removeprefix("sqlite:///")
    if not settings.database_url.startswith("sqlite:///") or not path:
        raise SettingError("HOLDFAST_DATABASE_URL: sqlite:/// and a path is needed")
    return Path(path)


def build_service(
    settings: Settings,
    secrets: Secrets,
    store: Store,
    clock: Clock = system_clock,
    entropy: Entropy = system_entropy,
) -> Service:
    """The service over a store. Time and randomness can be given, so that tests own them."""
    pools = ConnectionPools()
    outbox = settings.data_dir / "outbox"
    mailer = _named("HOLDFAST_MAIL_URL", mailer_of, settings.mail_url, settings.mail_from, pools.of("mail"), outbox,
                    settings.public_host)  # fmt: skip
    sms = _named("HOLDFAST_SMS_URL", sms_verifier_of, settings.sms_url, pools.of("sms"), outbox, clock, entropy)
    chains = {
        84532: ChainReader(lambda: _rpc(settings.rpc_url, pools.of("chain"))),
        8453: ChainReader(lambda: _rpc(settings.rpc_url_8453, pools.of("chain 8453"))),
    }
    chain = chains[DEFAULT_CHAIN_ID]
    reserved = _reserved_names(settings)
    confirmations = _confirmations(
        settings, store, ChainReader(lambda: _rpc(settings.rpc_url, pools.of("confirmations"))), clock
    )
    sessions = Sessions(store, reserved.current, settings.limits, clock)
    chores = Chores(store, confirmations, clock)
    return Service(
        store=store,
        sessions=sessions,
        verification=Verification(
            store, mailer, sms, secrets, settings.registrar_did, settings.limits, settings.ceilings, clock, entropy
        ),
        dids=Dids(
            store=store,
            sessions=sessions,
            confirmations=confirmations,
            secrets=secrets,
            registrar=settings.registrar_did,
            limits=settings.limits,
            ceilings=settings.ceilings,
            clock=clock,
            proof_required=settings.registration_proof == "required",
        ),
        accounts=Accounts(
            chain,
            settings.contract_app_factory,
            settings.contract_account_helper,
            settings.contract_entry_point,
        ),
        balances=Balances(chains, {84532: settings.usdc_84532, 8453: settings.usdc_8453}),
        relay=Relay(BundlerProxy(settings.bundler_url, pools.of("bundler")), store, settings.ceilings, clock),
        indexer=_indexer(settings, pools.of("indexer")),
        workflow=Workflow(chores, settings.public_url),
        chores=chores,
        statics=prepare(contract_set(settings)),
        enclaves=_named("HOLDFAST_ENCLAVE_URL", EnclaveSource, settings.enclave_url, bundled_enclave()),
        reserved=reserved,
        client_address=ClientAddress(settings.client_ip_header, settings.trusted_proxies),
        limits=settings.limits,
        registrar=settings.registrar_did,
        shown_rpc=shown_rpc(settings),
        engine=engine_configured(),
        clock=clock,
        senders=(mailer, sms),
        close_pools=pools.close,
    )


def _confirmations(settings: Settings, store: Store, chain: ChainReader, clock: Clock) -> Confirmations:
    """Over a reader that nothing else asks: a transaction that a stranger chose must not spoil other reads' batch."""
    registry = from_hex(settings.contract_did_registry)
    controllers = Controllers(chain, registry, settings.contract_app_factory)
    return Confirmations(store, chain, registry, controllers, settings.confirmation_depth, clock)


def contract_set(settings: Settings) -> ContractSet:
    """Body of GET /api/contracts."""
    return ContractSet(
        chain_id=DEFAULT_CHAIN_ID,
        entry_point=settings.contract_entry_point,
        did_registry=settings.contract_did_registry,
        account_helper=settings.contract_account_helper,
        session_sbt=settings.contract_session_sbt,
        app_factory=settings.contract_app_factory,
    )


def shown_rpc(settings: Settings) -> str:
    """What /api/status tells of the chain's endpoint: a key in its address must not leak (decisions, section 8)."""
    if settings.public_rpc_url:
        return settings.public_rpc_url
    if settings.rpc_url in {chain.public_rpc for chain in CHAINS.values()}:
        return settings.rpc_url
    parts = urlsplit(settings.rpc_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def bundled_enclave() -> bytes:
    """The enclave that came with this release."""
    # Read beside the package, not through it: its import brings the WebAssembly runtime, which serving does not need.
    file = Path(holdfast.__file__).parent / "enclave" / "enclave.wasm"
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingError("the bundled enclave is missing; install again, or run: make setup") from error


def _rpc(url: str, session: Callable[[], ClientSession]) -> RpcClient:
    # Imported here: the first question to a chain pays for the HTTP client, not the start.
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import AiohttpTransport

    return RpcClient(url, AiohttpTransport(session()))


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
    """What `make` makes; its complaint about a setting gets the setting's name."""
    try:
        return make(*arguments)
    except ValueError as error:
        raise SettingError(f"{name}: {error}") from error
