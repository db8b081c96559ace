"""One world per hardfork for the whole run. Tests share it, so each uses fresh keys, and none takes the chain back:
a bundler does not survive that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from tests.world.availability import why_no_chain

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler
from holdfast.chain.contracts import ADDRESSES, load, predict_account
from holdfast.chain.entry_points import ENTRY_POINTS, EntryPoint
from holdfast.chain.reverts import errors_of
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex
from holdfast.world.anvil import CHAIN_ID, ChainOptions
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.software_key import SoftwareKey

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ERRORS = [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["osaka", "prague"])
async def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalWorld]:
    logs: Path = tmp_path_factory.mktemp(f"world-{request.param}")
    options = WorldOptions(logs=logs, chain=ChainOptions(hardfork=request.param))
    if why := why_no_chain():
        pytest.skip(why)
    async with open_world(options, lambda _: None) as opened:
        yield opened


@pytest.fixture(params=ENTRY_POINTS, ids=lambda entry_point: f"v{entry_point.version}")
def entry_point(request: pytest.FixtureRequest) -> EntryPoint:
    return request.param


@dataclass(frozen=True)
class Person:
    """Someone with a fresh key, who is not on the chain yet."""

    world: LocalWorld
    bundler: Bundler
    key: SoftwareKey
    salt: int = 0

    @property
    def account(self) -> str:
        return predict_account(self.key.x, self.key.y, self.salt)

    @property
    def alias(self) -> str:
        return f"person-{self.account[2:12].lower()}"

    def first_operation(self, *inner: calls.Call) -> UserOperation:
        return replace(
            self.operation(0, *inner),
            factory=from_hex(ADDRESSES["AppFactory"]),
            factory_data=calls.create_account(self.key.x, self.key.y, self.salt),
        )

    def operation(self, nonce: int, *inner: calls.Call) -> UserOperation:
        data = calls.execute(inner[0]) if len(inner) == 1 else calls.execute_batch(inner)
        return UserOperation(sender=from_hex(self.account), nonce=nonce, call_data=data)

    def registration(self, alias: str | None = None) -> UserOperation:
        return self.first_operation(
            calls.register(
                ADDRESSES["DIDRegistry"],
                self.key.x,
                self.key.y,
                salt=self.salt,
                alias=alias or self.alias,
                metadata_cid="bafy",
            )
        )

    async def register(self) -> Any:
        return await self.bundler.wait(await self.bundler.send_sponsored(self.registration(), self.key.sign))

    async def usdc(self, address: str | None = None) -> int:
        data = call_data("balanceOf(address)", address or self.account)
        return int.from_bytes(await self.world.rpc.eth_call(ADDRESSES["DevUSDC"], data))

    async def mint(self, amount: int) -> None:
        data = call_data("mint(address,uint256)", self.account, amount)
        await self.world.chain.transact(self.world.accounts.tester.address, ADDRESSES["DevUSDC"], data)


@pytest.fixture
def bundler(world: LocalWorld, entry_point: EntryPoint) -> Bundler:
    return Bundler(world.bundler_rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)


@pytest.fixture
def newcomer(world: LocalWorld, bundler: Bundler) -> Callable[..., Person]:
    return lambda salt=0: Person(world, bundler, SoftwareKey.generate(), salt)
