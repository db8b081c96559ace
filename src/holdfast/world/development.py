"""`holdfast dev` without its command line: folders, the world, the service on it, and what happens then."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import tempfile
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.chain import calls
from holdfast.chain.contracts import ADDRESSES
from holdfast.world.anvil import HARDFORK, HOST, ChainOptions
from holdfast.world.demonstration import Demonstration
from holdfast.world.errors import WorldError
from holdfast.world.facts import facts_of
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.processes import free_port
from holdfast.world.service_process import public_url, start_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from holdfast.world.demonstration import Findings

_FOLDER = "holdfast-dev-"
TEST_USDC = 1_000_000 * 10**6
# What a demonstration needs of the service: an answer at once, and no end of demonstrations from one address.
_FOR_DEMONSTRATIONS = {"HOLDFAST_REGISTRATION_PROOF": "required", "MAX_REGISTRATIONS_PER_IP": "1000000"}


@dataclass(frozen=True, kw_only=True)
class DevelopmentOptions:
    """What the command line may choose. Ports: 0 picks one. `state` None: nothing outlives the process."""

    state: Path | None = None
    port: int = 0
    rpc_port: int = 0
    bundler_port: int = 0
    hardfork: str = HARDFORK


@dataclass(frozen=True, kw_only=True)
class Development:
    """A running world with the service on it."""

    world: LocalWorld
    service_url: str
    facts: dict[str, Any]


@asynccontextmanager
async def develop(
    options: DevelopmentOptions, say: Callable[[str], None], *, demo: bool = False
) -> AsyncIterator[Development]:
    """Start everything; at the end of the block nothing runs. Raises WorldError, ChainError."""
    for port in filter(None, (options.port, options.rpc_port, options.bundler_port)):
        _require_free(port)
    with _home(options.state) as home:
        chain = ChainOptions(options.hardfork, options.rpc_port, _chain_state(options.state))
        asked = WorldOptions(logs=home / "logs", chain=chain, bundler_port=options.bundler_port)
        async with open_world(asked, say) as world:
            await _fund_tester(world)
            say("starting the service")
            environment = {**os.environ, **(_FOR_DEMONSTRATIONS if demo else {})}
            port = options.port or free_port()
            url = await start_service(world, home / "service", port, environment)
            facts = facts_of(world, public_url(port), home / "service", asked.logs)
            yield Development(world=world, service_url=url, facts=facts)


async def demonstrate(options: DevelopmentOptions, say: Callable[[str], None]) -> Findings:
    """Start, show one registration and one payment, stop. Raises WorldError, ChainError."""
    async with develop(options, say, demo=True) as running:
        return await Demonstration(running.world, running.service_url, say).run()


async def run_until_something_ends(
    options: DevelopmentOptions, say: Callable[[str], None], ready: Callable[[dict[str, Any]], None]
) -> None:
    """Start, tell `ready`, and stay. Raises WorldError where one of the programs ends by itself."""
    async with develop(options, say) as running:
        ready(running.facts)
        ended = await running.world.supervisor.first_to_end()
        raise WorldError(f"{ended.name} stopped: {ended.last_words()}")


def run_to_the_end(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of `work`, or None where a signal ended it; its clean-up is done either way."""

    async def guarded() -> Any:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        # Before anything is started: a signal must always find someone who cleans up.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            return await task

    return asyncio.run(guarded())


def findings_as_json(findings: Findings) -> dict[str, Any]:
    """For programs."""
    return {**asdict(findings), "good": findings.good}


async def _fund_tester(world: LocalWorld) -> None:
    usdc, tester = ADDRESSES["DevUSDC"], world.accounts.tester.address
    held = int.from_bytes(await world.rpc.eth_call(usdc, calls.call_data("balanceOf(address)", tester)))
    if not held:
        await world.chain.transact(tester, usdc, calls.call_data("mint(address,uint256)", tester, TEST_USDC))


@contextlib.contextmanager
def _home(state: Path | None) -> Iterator[Path]:
    if state is not None:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield state.resolve()
        return
    remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of worlds whose process was killed before it could."""
    for folder in parent.glob(f"{_FOLDER}*-*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdecimal() and not _lives(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def _chain_state(state: Path | None) -> Path | None:
    return None if state is None else state.resolve() / "chain.json"


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            raise WorldError(f"port {port} is taken; stop what listens there or choose another") from None
