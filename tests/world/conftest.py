"""One local chain per hardfork, with a bundler and a sponsor, for the whole run.

Tests share the chain, so each test uses new keys, and none reverts blocks, which the bundler would not survive.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio
from tests.support.availability import why_no_chain

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler
from holdfast.chain.contracts import ADDRESSES, load, predict_account
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.chain.reverts import errors_of
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex
from holdfast.world.anvil import CHAIN_ID, ChainOptions
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.software_key import SoftwareKey

ERRORS = [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]


@dataclass(frozen=True)
class Person:
    world: LocalWorld
    bundler: Bundler
    key: SoftwareKey
    salt: int = 0

    @property
    def account(self):
        return predict_account(self.key.x, self.key.y, self.salt)

    @property
    def alias(self):
        return f"person-{self.account[2:12].lower()}"

    def first_operation(self, *inner):
        return replace(
            self.operation(0, *inner),
            factory=from_hex(ADDRESSES["AppFactory"]),
            factory_data=calls.create_account(self.key.x, self.key.y, self.salt),
        )

    def operation(self, nonce, *inner):
        data = calls.execute(inner[0]) if len(inner) == 1 else calls.execute_batch(inner)
        return UserOperation(sender=from_hex(self.account), nonce=nonce, call_data=data)

    def registration(self):
        keys, more = (self.key.x, self.key.y), {"salt": self.salt, "alias": self.alias, "metadata_cid": "bafy"}
        return self.first_operation(calls.register(ADDRESSES["DIDRegistry"], *keys, **more))

    async def register(self):
        return await self.bundler.wait(await self.bundler.send_sponsored(self.registration(), self.key.sign))

    async def usdc(self, address=None):
        data = call_data("balanceOf(address)", address or self.account)
        return int.from_bytes(await self.world.rpc.eth_call(ADDRESSES["DevUSDC"], data))

    async def mint(self, amount):
        data = call_data("mint(address,uint256)", self.account, amount)
        await self.world.chain.transact(self.world.accounts.tester.address, ADDRESSES["DevUSDC"], data)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def worlds(tmp_path_factory):
    kept = {}
    async with AsyncExitStack() as opened:

        async def of(hardfork):
            if hardfork not in kept:
                logs = tmp_path_factory.mktemp(f"world-{hardfork}")
                options = WorldOptions(logs=logs, chain=ChainOptions(hardfork=hardfork))
                kept[hardfork] = await opened.enter_async_context(open_world(options, lambda _: None))
            return kept[hardfork]

        yield of


@pytest_asyncio.fixture(
    scope="session", loop_scope="session", params=["osaka", pytest.param("prague", marks=pytest.mark.soak)]
)
async def world(request, worlds):
    if why := why_no_chain():
        pytest.skip(why)
    return await worlds(request.param)


@pytest.fixture(params=ENTRY_POINTS, ids=lambda entry_point: f"v{entry_point.version}")
def entry_point(request):
    return request.param


@pytest.fixture
def bundler(world, entry_point):
    return Bundler(world.bundler_rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)


@pytest.fixture
def newcomer(world, bundler):
    return lambda salt=0: Person(world, bundler, SoftwareKey.generate(), salt)
