"""People with new keys, who register and pay on a local chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler
from holdfast.chain.contracts import ADDRESSES, load, predict_account
from holdfast.chain.reverts import errors_of
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex
from holdfast.world.local_world import LocalWorld
from holdfast.world.software_key import SoftwareKey

ERRORS = [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]


@dataclass(frozen=True)
class Person:
    """A person with a new key who is not on the chain yet."""

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
