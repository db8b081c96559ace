"""The service with a real local chain, bundler, sponsor and indexer, in a separate thread, shared by the whole run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.rpc import RpcClient
from holdfast.chain.values import Receipt
from holdfast.world.anvil import CHAIN_ID, HARDFORK, ChainOptions
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.processes import free_port
from holdfast.world.service_process import chain_row, start_service

T = TypeVar("T")

# High limits, because many test users share one IP address.
LIMITS = {
    "MAX_REGISTRATIONS_PER_IP": "1000",
    "MAX_VERIFY_SENDS_PER_IP": "1000",
    "HOLDFAST_OPERATIONS_PER_ADDRESS_HOUR": "100000",
    "HOLDFAST_CHAIN_READS_PER_ADDRESS_MINUTE": "100000",
    "HOLDFAST_DID_POSTS_PER_ADDRESS_DAY": "100000",
}


NOWHERE = "http://localhost:9"


class ChainService:
    """The service's address, and functions that fund accounts."""

    def __init__(self, base_url: str, world: LocalWorld, loop: asyncio.AbstractEventLoop, data: Path) -> None:
        self.base_url, self._world, self._loop, self.data = base_url, world, loop, data
        self.usdc = ADDRESSES["DevUSDC"]

    def give(self, account: str, amount: int) -> None:
        minted = call_data("mint(address,uint256)", account, amount)
        self.wait(self._world.chain.transact(self._world.accounts.tester.address, self.usdc, minted))

    def send(self, to: str, data: bytes, sender: str | None = None, value: int = 0) -> None:
        """Send a transaction from any address, even a contract's, which anvil allows; by default from a tester's."""
        if sender is not None:
            self.rpc("anvil_setBalance", sender, hex(10**18))
            self.rpc("anvil_impersonateAccount", sender)
        self.wait(self._world.chain.transact(sender or self._world.accounts.tester.address, to, data, value))

    def usdc_of(self, account: str) -> int:
        data = call_data("balanceOf(address)", account)
        return int.from_bytes(self.wait(self._world.rpc.eth_call(self.usdc, data))[:32])

    def fund(self, account: str, wei: int) -> None:
        self.wait(self._world.rpc.call("anvil_setBalance", [account, hex(wei)]))

    def coin_of(self, account: str) -> int:
        return self.wait(self._world.rpc.get_balance(account))

    def mine(self) -> None:
        """Mine one block, because this chain mines none without a transaction."""
        self.wait(self._world.rpc.call("evm_mine"))

    def receipt(self, transaction_hash: str) -> Receipt | None:
        return self.wait(self._world.rpc.get_transaction_receipt(transaction_hash))

    def read(self, contract: str, signature: str, *values: Any) -> bytes:
        return self.call(ADDRESSES[contract], signature, *values)

    def call(self, address: str, signature: str, *values: Any) -> bytes:
        return self.wait(self._world.rpc.eth_call(address, call_data(signature, *values)))

    def run(self, question: Callable[[RpcClient], Coroutine[Any, Any, T]]) -> T:
        return self.wait(question(self._world.rpc))

    def rpc(self, method: str, *params: Any) -> Any:
        return self.wait(self._world.rpc.call(method, list(params)))

    @property
    def server(self) -> Any:
        return SimpleNamespace(port=urlsplit(self.base_url).port, data=self.data)

    @property
    def rpc_url(self) -> str:
        return self._world.chain.rpc_url

    @property
    def bundler_url(self) -> str:
        """The URL of the sponsor's proxy in front of the bundler Alto."""
        return self._world.bundler_url

    @property
    def sponsor(self) -> str:
        """The address whose signatures VerifyingPaymaster accepts; anvil has the private key."""
        return self._world.accounts.sponsor.address

    def another(self, folder: Path, bundler_url: str, **settings: str) -> ChainService:
        """Start a second service with the same chain and a different bundler; it stops when the chain does."""
        folder.mkdir()
        world = replace(self._world, bundler_url=bundler_url)
        started = start_service(world, folder, free_port(), LIMITS | settings)
        return ChainService(self.wait(started), world, self._loop, folder)

    @property
    def row(self) -> str:
        return chain_row(self._world.chain, self._world.bundler_url)

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)


@dataclass
class _Box:
    loop: asyncio.AbstractEventLoop | None = None
    stop: asyncio.Event | None = None
    service: ChainService | None = None
    error: BaseException | None = None


@contextmanager
def chain_service(
    folder: Path, *, served: bool = True, hardfork: str = HARDFORK, chain_id: int = CHAIN_ID
) -> Iterator[ChainService]:
    started, box = threading.Event(), _Box()
    options = WorldOptions(logs=folder, chain=ChainOptions(hardfork=hardfork, chain_id=chain_id))

    async def live() -> None:
        box.stop, box.loop = asyncio.Event(), asyncio.get_running_loop()
        async with open_world(options, lambda _: None) as world:
            data = folder / "data"
            data.mkdir()
            base_url = await start_service(world, data, free_port(), LIMITS) if served else NOWHERE
            box.service = ChainService(base_url, world, box.loop, data)
            started.set()
            await box.stop.wait()

    def run() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:  # noqa: BLE001 - told to the test below
            box.error = error
        finally:
            started.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        started.wait(300)
        if box.error is not None:
            raise box.error
        assert box.service is not None, "the world did not start"
        yield box.service
    finally:
        if box.stop is not None and box.loop is not None and thread.is_alive():
            box.loop.call_soon_threadsafe(box.stop.set)
        thread.join()
