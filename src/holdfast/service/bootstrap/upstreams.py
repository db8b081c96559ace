"""Builds what calls chains and the indexer."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID
from holdfast.rules.did_documents import Place
from holdfast.service.operations.accounts import Accounts
from holdfast.service.operations.confirmation import Confirmations
from holdfast.service.operations.controllers import Controllers
from holdfast.service.operations.resolution import Resolution
from holdfast.service.upstreams.chain_rpc import ChainReader, CountedTransport
from holdfast.service.upstreams.indexer import IndexerAddress, IndexerBinding
from holdfast.settings.rows import SettingError
from holdfast.wire.encoding import from_hex

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import ClientSession

    from holdfast.chain.rpc import RpcClient
    from holdfast.service.clock import Clock
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store
    from holdfast.service.upstreams.indexer import Indexer
    from holdfast.service.upstreams.pool import ConnectionPools


def chain_readers(settings: Settings, pools: ConnectionPools) -> dict[int, ChainReader]:
    """Return a reader for each supported chain, by chain ID."""
    return {
        84532: ChainReader(lambda: _rpc("chain", settings.rpc_url, pools.of("chain"))),
        8453: ChainReader(lambda: _rpc("chain_8453", settings.rpc_url_8453, pools.of("chain 8453"))),
    }


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
    return Resolution(store.snapshots, accounts_of(settings, chain), controllers, Place(DEFAULT_CHAIN_ID, registry))


def shown_rpc(settings: Settings) -> str:
    """Return the chain's endpoint for /api/status, without the parts of its URL that may contain an API key."""
    if settings.public_rpc_url:
        return settings.public_rpc_url
    if settings.rpc_url in {chain.public_rpc for chain in CHAINS.values()}:
        return settings.rpc_url
    parts = urlsplit(settings.rpc_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def configured_indexer(settings: Settings, session: Callable[[], ClientSession]) -> Indexer | None:
    """Return the indexer, which runs in this process or at a URL; None without one. Raises SettingError."""
    if settings.indexer_app:
        module, _, attribute = settings.indexer_app.partition(":")
        try:
            return IndexerBinding(getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise SettingError(f"HOLDFAST_INDEXER_APP: cannot be loaded ({type(error).__name__})") from error
    return IndexerAddress(settings.indexer_url, session) if settings.indexer_url else None


def _rpc(provider: str, url: str, session: Callable[[], ClientSession]) -> RpcClient:
    # Imported here, so that the HTTP client is loaded on the first request to a chain, not at startup.
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.transports import AiohttpTransport

    return RpcClient(url, CountedTransport(provider, AiohttpTransport(session())))
