"""The local world: a chain with the entry points, our contracts, a bundler and a sponsor."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import aiohttp

from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.world.accounts import DevelopmentAccounts, unlock
from holdfast.world.alto import start_bundler
from holdfast.world.anvil import ChainOptions, LocalChain, start_chain
from holdfast.world.chain_front import serve_chain
from holdfast.world.deployment import deploy_contracts, deploy_entry_points
from holdfast.world.faucet import PATH, Faucet
from holdfast.world.front import DevelopmentBundler, serve_bundler
from holdfast.world.processes import Supervisor
from holdfast.world.sponsor import Sponsor
from holdfast.world.tools import find_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from holdfast.chain.transports import Transport
    from holdfast.world.tools import Tools


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """The options of a world.

    `logs` is the folder for the programs' output; port 0 picks a free one; all programs inherit `locks`.
    """

    logs: Path
    chain: ChainOptions = field(default_factory=ChainOptions)
    bundler_port: int = 0
    locks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LocalWorld:
    """A running world.

    `bundler_url` is the front's, `supervisor` runs the programs, `http` is a pool. `faucet_url` gives test USDC to
    pages of the world's service; None in a world that has no pages.
    """

    chain: LocalChain
    bundler_url: str
    accounts: DevelopmentAccounts
    supervisor: Supervisor
    http: aiohttp.ClientSession
    faucet_url: str | None = None

    @property
    def transport(self) -> Transport:
        """Return a transport that sends JSON-RPC requests through the pooled HTTP session."""
        return AiohttpTransport(self.http)

    @property
    def rpc(self) -> RpcClient:
        """The chain's JSON-RPC."""
        return self.chain.rpc

    @property
    def bundler_rpc(self) -> RpcClient:
        """The front's JSON-RPC."""
        return RpcClient(self.bundler_url, self.transport, batches=False)


@asynccontextmanager
async def open_world(options: WorldOptions, say: Callable[[str], None]) -> AsyncIterator[LocalWorld]:
    """Start the chain and its programs, and stop them at the end of the `with` block. Raises WorldError, ChainError."""
    tools = await find_tools(say)
    async with AsyncExitStack() as opened:
        session = await opened.enter_async_context(aiohttp.ClientSession())
        supervisor = await opened.enter_async_context(Supervisor(options.logs, options.locks))
        transport = AiohttpTransport(session)
        say("starting the chain")
        chain = await start_chain(supervisor, tools, transport, options.chain)
        accounts = await unlock(chain.rpc, chain.rpc_url, chain.chain_id)
        await _deploy(chain, tools, accounts)
        chain = replace(chain, rpc_url=await opened.enter_async_context(_entrance(chain, options.chain, accounts)))
        say("starting the bundler")
        # Alto asks the front end too, because Node.js connects to as few ports as browsers.
        alto_url = await start_bundler(supervisor, tools, transport, chain.rpc_url, accounts)
        alto = RpcClient(alto_url, transport, batches=False)
        sponsor = Sponsor(chain, alto, accounts.sponsor)
        bundler = serve_bundler(DevelopmentBundler(sponsor, alto_url, transport), options.bundler_port)
        bundler_url = await opened.enter_async_context(bundler)
        yield LocalWorld(
            chain=chain,
            bundler_url=bundler_url,
            accounts=accounts,
            supervisor=supervisor,
            http=session,
            faucet_url=chain.rpc_url + PATH if options.chain.origin else None,
        )


@asynccontextmanager
async def _entrance(chain: LocalChain, options: ChainOptions, accounts: DevelopmentAccounts) -> AsyncIterator[str]:
    """Yield the chain's address for tools and the service's pages."""
    if options.origin is None:
        yield chain.rpc_url
        return
    faucet = Faucet(chain, accounts.tester.address, options.origin)
    async with serve_chain(chain.rpc_url, options.origin, options.port, faucet) as url:
        yield url


async def _deploy(chain: LocalChain, tools: Tools, accounts: DevelopmentAccounts) -> None:
    await deploy_entry_points(chain, tools, accounts.tester.address)
    await deploy_contracts(chain, accounts.tester.address)
