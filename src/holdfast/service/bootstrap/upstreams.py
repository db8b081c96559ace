"""Builds what calls chains and the indexer."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from holdfast.rules.did_documents import RegistryLocation
from holdfast.service.operations.accounts import Accounts
from holdfast.service.operations.confirmation import Confirmations
from holdfast.service.operations.controllers import Controllers
from holdfast.service.operations.resolution import Resolution
from holdfast.service.settings.chains import served_chains
from holdfast.service.upstreams.bundler import BundlerProxy
from holdfast.service.upstreams.chain_rpc import ChainReader, CountedTransport
from holdfast.service.upstreams.indexer import IndexerAddress, IndexerBinding
from holdfast.settings.rows import SettingError
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from holdfast.chain.bundler import Bundler
    from holdfast.chain.rpc import RpcClient
    from holdfast.rules.chains import Chain
    from holdfast.service.clock import Clock
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.indexer import AsgiApp, Indexer
    from holdfast.service.upstreams.pool import ConnectionPools


def chain_readers(settings: Settings, pools: ConnectionPools) -> dict[int, ChainReader]:
    """Return a reader for each supported chain, by chain ID."""
    served = served_chains(settings)
    return {chain_id: _reader(chain, served.main, pools) for chain_id, chain in served.chains.items()}


def _reader(chain: Chain, main: Chain, pools: ConnectionPools) -> ChainReader:
    other = "chain_8453" if chain.chain_id == 8453 else "chain_other"  # noqa: PLR2004 - a chain
    provider = "chain" if chain is main else other
    return ChainReader(lambda: _rpc(provider, chain.rpc, pools.of(pool_of("chain", chain, main))))


def pool_of(upstream: str, chain: Chain, main: Chain) -> str:
    """Return the name of the pool of a chain's upstream, so that a slow one does not delay another chain's."""
    return upstream if chain is main else f"{upstream} {chain.chain_id}"


def bundler_of(chain: Chain, main: Chain, pools: ConnectionPools) -> BundlerProxy:
    """Return the bundler of a chain, if it has one."""
    return BundlerProxy(chain.bundler, pools.of(pool_of("bundler", chain, main)))


def bundler_client(settings: Settings, chain: Chain, pools: ConnectionPools) -> Callable[[], Bundler]:
    """Return a function that returns the client of a chain's bundler, made when first needed."""
    from holdfast.chain.bundler import Bundler

    pool = pool_of("bundler", chain, served_chains(settings).main)

    @cache
    def connect() -> Bundler:
        rpc = _rpc("bundler", chain.bundler or "", pools.of(pool))
        return Bundler(rpc, entry_point=settings.contract_entry_point, chain_id=chain.chain_id)

    return connect


def confirmations_of(settings: Settings, store: Store, pools: ConnectionPools, clock: Clock) -> Confirmations:
    """Return what confirms registrations; it has a separate chain reader, so that it does not delay other reads."""
    chain = ChainReader(lambda: _rpc("chain", settings.rpc_url, pools.of("confirmations")))
    registry = from_hex(settings.contract_did_registry)
    controllers = Controllers(chain, registry, settings.contract_app_factory)
    return Confirmations(
        store, chain, registry, controllers, settings.confirmation_depth, clock, settings.bundler_url is not None
    )


def accounts_of(settings: Settings, chain: ChainReader) -> Accounts:
    """Return the operations on smart accounts."""
    factory, helper = settings.contract_app_factory, settings.contract_account_helper
    return Accounts(chain, factory, helper, settings.contract_entry_point)


def resolution_of(settings: Settings, chain: ChainReader, store: Store) -> Resolution:
    """Return what resolves DIDs."""
    registry = from_hex(settings.contract_did_registry)
    controllers = Controllers(chain, registry, settings.contract_app_factory)
    return Resolution(
        store.snapshots, accounts_of(settings, chain), controllers, RegistryLocation(settings.chain, registry)
    )


def configured_indexer(settings: Settings, session: Callable[[], ClientSession]) -> Indexer | None:
    """Return the indexer, which runs in this process or at a URL; None without one. Raises SettingError."""
    if settings.indexer_app:
        return IndexerBinding(_application(*settings.indexer_app.split(":")))
    return IndexerAddress(settings.indexer_url, session) if settings.indexer_url else None


def _application(module: str, attribute: str) -> AsgiApp:
    """Import an ASGI application. Raises SettingError."""
    try:
        imported = import_module(module)
    except ModuleNotFoundError as error:
        raise SettingError(f"HOLDFAST_INDEXER_APP: there is no module {error.name}") from error
    except Exception as error:  # whatever the operator's module raises; its message may contain a secret
        why = f"{module} cannot be imported: `python -c 'import {module}'` says why"
        raise SettingError(f"HOLDFAST_INDEXER_APP: {why}") from error
    try:
        application: AsgiApp = attrgetter(attribute)(imported)
    except AttributeError as error:
        raise SettingError(f"HOLDFAST_INDEXER_APP: {module} has no {attribute}") from error
    if not callable(application):
        raise SettingError(f"HOLDFAST_INDEXER_APP: {module}:{attribute} cannot be called, as an ASGI application can")
    return application


def _rpc(provider: str, url: str, session: Callable[[], ClientSession]) -> RpcClient:
    # Imported here, so that the HTTP client is loaded on the first request to a chain, not at startup.
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import AiohttpTransport

    return RpcClient(url, CountedTransport(provider, AiohttpTransport(session())))
