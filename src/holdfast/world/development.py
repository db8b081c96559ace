"""`holdfast dev` without its command line: starts a local chain and its programs, and runs the service with them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.world.anvil import CHAIN_ID, HARDFORK, ChainOptions
from holdfast.world.demonstration import Demonstration
from holdfast.world.errors import WorldError
from holdfast.world.facts import Facts, facts_of
from holdfast.world.home import chain_state, home
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.ports import require_ports
from holdfast.world.processes import free_port
from holdfast.world.service_process import public_url, start_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from holdfast.world.demonstration import Findings

T = TypeVar("T")

TEST_USDC = 1_000_000 * 10**6
# Settings for demonstrations: registrations are confirmed immediately, and any number of demonstrations may run from
# one address.
_FOR_DEMONSTRATIONS = {"HOLDFAST_REGISTRATION_PROOF": "required", "MAX_REGISTRATIONS_PER_IP": "1000000"}


@dataclass(frozen=True, kw_only=True)
class DevelopmentOptions:
    """The command-line options of `holdfast dev`. Port 0 selects a free port.

    Without `state`, nothing remains afterwards.
    """

    state: Path | None = None
    port: int = 0
    rpc_port: int = 0
    bundler_port: int = 0
    hardfork: str = HARDFORK
    chain_id: int = CHAIN_ID


@dataclass(frozen=True, kw_only=True)
class Development:
    """A running local development environment, including the service."""

    world: LocalWorld
    service_url: str
    facts: Facts


@asynccontextmanager
async def develop(
    options: DevelopmentOptions, say: Callable[[str], None], *, demo: bool = False
) -> AsyncIterator[Development]:
    """Start the local development environment and the service, and stop both at the end of the `with` block.

    Raises WorldError, ChainError.
    """
    with home(options.state) as (folder, locks):
        require_ports({"--port": options.port, "--rpc-port": options.rpc_port, "--bundler-port": options.bundler_port})
        port = options.port or free_port()
        state, pages = chain_state(options.state), public_url(port)
        chain = ChainOptions(options.hardfork, options.rpc_port, state, origin=pages, chain_id=options.chain_id)
        world_options = WorldOptions(logs=folder / "logs", chain=chain, bundler_port=options.bundler_port, locks=locks)
        async with open_world(world_options, say) as world:
            await _fund_tester(world)
            say("starting the service")
            environment = {**os.environ, **(_FOR_DEMONSTRATIONS if demo else {})}
            url = await start_service(world, folder / "service", port, environment)
            facts = facts_of(world, pages, folder / "service", world_options.logs)
            yield Development(world=world, service_url=url, facts=facts)


async def demonstrate(options: DevelopmentOptions, say: Callable[[str], None]) -> Findings:
    """Start a local chain and the service, demonstrate a registration and a payment, and stop.

    Raises WorldError, ChainError.
    """
    async with develop(options, say, demo=True) as running:
        return await Demonstration(running.world, running.service_url, say).run()


async def run_until_something_ends(
    options: DevelopmentOptions, say: Callable[[str], None], ready: Callable[[Facts], None]
) -> None:
    """Start, call `ready`, and run. Raises WorldError if one of the programs stops by itself."""
    async with develop(options, say) as running:
        ready(running.facts)
        ended = await running.world.supervisor.first_to_end()
        raise WorldError(f"{ended.name} stopped: {ended.last_words()}")


def run_to_the_end(work: Coroutine[object, object, T]) -> T | None:
    """Return the result of `work`, or None if a signal ended it. The clean-up of `work` runs in either case."""

    async def guarded() -> T | None:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        # The signal handlers are set before anything starts, so that every signal leads to a clean-up.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            return await task
        return None

    return asyncio.run(guarded())


def findings_as_json(findings: Findings) -> dict[str, object]:
    """Return the facts for programs."""
    return {**asdict(findings), "good": findings.good}


async def _fund_tester(world: LocalWorld) -> None:
    usdc, tester = ADDRESSES["DevUSDC"], world.accounts.tester.address
    held = int.from_bytes(await world.rpc.eth_call(usdc, call_data("balanceOf(address)", tester)))
    if not held:
        await world.chain.transact(tester, usdc, call_data("mint(address,uint256)", tester, TEST_USDC))
