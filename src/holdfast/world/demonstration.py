"""A narrated demonstration: a person gets a handle, a smart account and a DID on the chain, and makes a payment.

All steps use the service's HTTP interface, as an application would. At the end, the result is read directly from the
chain, without the service.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler
from holdfast.chain.contracts import ADDRESSES, load
from holdfast.chain.entry_points import V07
from holdfast.chain.reverts import errors_of
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex, to_base64url, to_hex
from holdfast.wire.keccak import alias_hash, did_hash
from holdfast.world.errors import WorldError
from holdfast.world.software_key import SoftwareKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.chain.bundler import OperationReceipt
    from holdfast.world.local_world import LocalWorld

REGISTRY, FACTORY, USDC = (ADDRESSES[name] for name in ("DIDRegistry", "AppFactory", "DevUSDC"))
ERRORS = [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]
GIVEN, PAID = 10_000_000, 2_500_000  # millionths of a dollar


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The chain's state at the end of the demonstration."""

    did: str
    alias: str
    account: str
    registration: str
    payment: str
    did_is_the_accounts: bool
    alias_is_the_dids: bool
    payee_was_paid: bool

    @property
    def good(self) -> bool:
        """Whether everything on the chain is as expected."""
        return self.did_is_the_accounts and self.alias_is_the_dids and self.payee_was_paid


class Demonstration:
    """The person in the demonstration, who has a new key and a free handle."""

    def __init__(self, world: LocalWorld, service_url: str, say: Callable[[str], None]) -> None:
        self._world = world
        self._service = service_url
        self._say = say
        self._key = SoftwareKey.generate()
        self._alias = f"demo-{secrets.token_hex(4)}"
        # The payee is an address that has never been used.
        self._payee = to_hex(secrets.token_bytes(20))
        bundler = RpcClient(f"{service_url}/api/bundler", world.transport, batches=False)
        self._chain_id = world.chain.chain_id
        self._bundler = Bundler(bundler, entry_point=V07.address, chain_id=self._chain_id, errors=ERRORS)

    async def run(self) -> Findings:
        """Register and pay. Raises WorldError, ChainError if a step is refused."""
        account = await self._predict()
        await self._reserve()
        registered = await self._register(account)
        await self._record(account, registered)
        await self._look_up(account)
        paid = await self._pay(account)
        return await self._ask_the_chain(account, registered, paid)

    async def _predict(self) -> str:
        self._say(f"A fresh P-256 key stands for the passkey. It certifies {self._key.did}")
        answer = await self._get("/api/accounts/predict", pubKeyX=hex(self._key.x), pubKeyY=hex(self._key.y))
        self._say(f"Its smart account will be {answer['address']}; nothing is there yet, and it owns nothing.")
        return str(answer["address"])

    async def _reserve(self) -> None:
        await self._post("/api/sessions", {"handle": self._alias, "did": self._key.did})
        self._say(f"The service holds the handle “{self._alias}” for it.")

    async def _register(self, account: str) -> OperationReceipt:
        operation = UserOperation(
            sender=from_hex(account),
            nonce=0,
            factory=from_hex(FACTORY),
            factory_data=calls.create_account(self._key.x, self._key.y),
            call_data=calls.execute(calls.register(REGISTRY, self._key.x, self._key.y, alias=self._alias)),
        )
        receipt = await self._perform(operation)
        self._say(
            f"One operation deployed the account and registered DID and alias in block {receipt.block_number}: "
            f"{receipt.actual_gas_used:,} gas, paid by the sponsor."
        )
        return receipt

    async def _record(self, account: str, receipt: OperationReceipt) -> None:
        body = {"credentialId": self._credential, "handle": self._alias, "channel": "handle", "did": self._key.did,
                "txHash": to_hex(receipt.transaction_hash), "smartAccount": account}  # fmt: skip
        await self._post("/api/dids", body)
        self._say("The service has read the receipt, found this DID in the registry's event, and recorded it.")

    async def _look_up(self, account: str) -> None:
        found = await self._get("/api/dids/lookup", credentialId=self._credential)
        state = await self._get("/api/accounts/state", account=account)
        if found.get("did") != self._key.did or state.get("did") != to_hex(did_hash(self._key.did)):
            raise WorldError("the service does not find what was just registered")
        self._say(f"A look-up by credential finds the DID; the account's state is active, nonce {state['nonce']}.")

    async def _pay(self, account: str) -> OperationReceipt:
        minted = call_data("mint(address,uint256)", account, GIVEN)
        await self._world.chain.transact(self._world.accounts.tester.address, USDC, minted)
        operation = UserOperation(
            sender=from_hex(account), nonce=1, call_data=calls.execute(calls.transfer(USDC, self._payee, PAID))
        )
        receipt = await self._perform(operation)
        balance = await self._get("/api/balance", account=account, token="USDC", chainId=str(self._chain_id))  # noqa: S106 - a currency
        self._say(
            f"It was given {GIVEN / 1e6:.2f} test USDC and paid {PAID / 1e6:.2f} of them to {self._payee} in block "
            f"{receipt.block_number}: {receipt.actual_gas_used:,} gas; {balance['formatted']} USDC are left."
        )
        return receipt

    async def _perform(self, operation: UserOperation) -> OperationReceipt:
        return await self._bundler.wait(await self._bundler.send_sponsored(operation, self._key.sign))

    async def _ask_the_chain(self, account: str, registered: OperationReceipt, paid: OperationReceipt) -> Findings:
        name, rpc = did_hash(self._key.did), self._world.rpc
        did = await rpc.eth_call(REGISTRY, call_data("getDid(bytes32)", name), at_least=64)
        alias = await rpc.eth_call(REGISTRY, call_data("getAlias(bytes32)", alias_hash(self._alias)), at_least=96)
        got = await rpc.eth_call(USDC, call_data("balanceOf(address)", self._payee))
        return Findings(
            did=self._key.did,
            alias=self._alias,
            account=account,
            registration=to_hex(registered.transaction_hash),
            payment=to_hex(paid.transaction_hash),
            did_is_the_accounts=did[12:32] == from_hex(account) and did[63] == 1,
            alias_is_the_dids=alias[:32] == name and alias[95] == 1,
            payee_was_paid=int.from_bytes(got[:32]) == PAID,
        )

    @property
    def _credential(self) -> str:
        return to_base64url(did_hash(self._key.did))

    async def _get(self, path: str, **query: str) -> dict[str, Any]:
        async with self._world.http.get(self._service + path, params=query) as answer:
            return _checked(path, answer.status, await answer.json())

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._world.http.post(self._service + path, json=body) as answer:
            return _checked(path, answer.status, await answer.json())


def _checked(path: str, status: int, body: dict[str, Any]) -> dict[str, Any]:
    if status != 200:  # noqa: PLR2004 - HTTP
        raise WorldError(f"{path} answered {status} {body.get('error')}")
    return body
