"""Runs a copy of the package, as a wheel contains it, outside the checkout, with the built client and a local chain."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.places import ROOT, say
from holdfast.chain import values
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.processes import free_port
from holdfast.world.service_process import public_url, service_environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bench.payment_window import SentOperation

START = "import sys; from holdfast.cli import main; sys.exit(main())"
STARTED_WITHIN_S = 120.0
BLOCK_S = 1
LOOK_S = 0.01
LIMITS = {
    "MAX_REGISTRATIONS_PER_IP": "100000",
    "HOLDFAST_OPERATIONS_PER_ADDRESS_HOUR": "100000",
    "HOLDFAST_DID_POSTS_PER_ADDRESS_DAY": "100000",
}


class Blocks:
    """The times at which the chain's blocks appeared, in seconds since 1970."""

    def __init__(self, world: LocalWorld) -> None:
        self._world = world
        self._seen: dict[int, float] = {}

    async def watch(self) -> None:
        """Watch the chain for new blocks until cancelled."""
        while True:
            newest = values.quantity(await self._world.rpc.call("eth_blockNumber"))
            self._seen.setdefault(newest, time.time())
            await asyncio.sleep(LOOK_S)

    async def took(self, operation: SentOperation) -> float:
        """Return the milliseconds from sending a user operation to the appearance of the block that contains it."""
        receipt = await self._world.bundler_rpc.call("eth_getUserOperationReceipt", [operation.hash])
        block = values.quantity(receipt["receipt"]["blockNumber"])
        at = min(then for number, then in self._seen.items() if number >= block)
        return (at - operation.sent_at) * 1000


@dataclass(frozen=True, slots=True)
class Installed:
    """A running service that was started from the copied package. `url` is its public address."""

    url: str
    world: LocalWorld
    usdc: str = ADDRESSES["DevUSDC"]

    async def give(self, account: str, amount: int) -> None:
        """Mint test USDC; the amount is in the smallest unit."""
        minted = call_data("mint(address,uint256)", account, amount)
        await self.world.chain.transact(self.world.accounts.tester.address, self.usdc, minted)

    @asynccontextmanager
    async def mined(self) -> AsyncIterator[Blocks]:
        """Watch the chain for new blocks inside the `async with` block."""
        blocks = Blocks(self.world)
        watching = asyncio.create_task(blocks.watch())
        try:
            yield blocks
        finally:
            watching.cancel()

    async def usdc_of(self, account: str) -> int:
        """Return an account's balance on the chain."""
        return int.from_bytes((await self.world.rpc.eth_call(self.usdc, call_data("balanceOf(address)", account)))[:32])


@asynccontextmanager
async def installed(folder: Path) -> AsyncIterator[Installed]:
    """Build the client, then start a chain with one block per second, and the service. Raises WorldError."""
    package = _copied(folder / "installed")
    async with open_world(WorldOptions(logs=folder / "logs"), say) as world:
        port = free_port()
        data = folder / "data"
        data.mkdir()
        settings = {**service_environment(world, data, port, LIMITS), "PYTHONPATH": str(package.parent)}
        child = await world.supervisor.start("service", [sys.executable, "-c", START, "serve"], settings)
        await world.supervisor.ready(child, lambda: _healthy(world, port), STARTED_WITHIN_S)
        await world.rpc.call("evm_setIntervalMining", [BLOCK_S])
        yield Installed(public_url(port), world)


async def _healthy(world: LocalWorld, port: int) -> bool:
    try:
        async with world.http.get(f"http://127.0.0.1:{port}/readyz") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _copied(folder: Path) -> Path:
    package = folder / "holdfast"
    shutil.copytree(ROOT / "src" / "holdfast", package, ignore=shutil.ignore_patterns("__pycache__"))
    build: Any = _builder()
    build.build_served(package / "service" / "static" / "client")
    return package


def _builder() -> Any:
    spec = importlib.util.spec_from_file_location("browser_build", ROOT / "browser" / "build.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("browser/build.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
