"""An anvil chain for one test, with Holdfast's real registry and factory, and random writes to them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support.curves import GENERATOR
from tests.support.fresh_chain import run_anvil

from holdfast.chain import abi
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, addresses, load, predict_account
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.wire.keccak import keccak256
from holdfast.world.tools import CHECKOUT, Tools

REGISTRY = bytes.fromhex(addresses.DID_REGISTRY[2:])
FACTORY = bytes.fromhex(addresses.APP_FACTORY[2:])
_FROM = "0x" + "f0" * 20
_GAS = hex(8_000_000)


def call_data(signature: str, *values: object) -> str:
    return "0x" + abi.call_data(signature, *values).hex()


class Anvil:
    """An anvil chain that mines blocks only on request, and a record of all attempted writes."""

    def __init__(self, url: str, rpc: RpcClient, rng: random.Random) -> None:
        self.url = url
        self.rpc = rpc
        self.rng = rng
        self.controllers: dict[bytes, bytes] = {}
        self.aliases: list[bytes] = []
        self.alias_of: dict[bytes, bytes] = {}
        self.salt = 0
        self.accounts: list[bytes] = []

    async def mine(self, blocks: int = 1) -> None:
        await self.rpc.call("anvil_mine", [hex(blocks)])

    async def height(self) -> int:
        return await self.rpc.block_number()

    async def send(self, sender: bytes | str, to: bytes | str, data: str) -> None:
        transaction = {"from": _text(sender), "to": _text(to), "data": data, "gas": _GAS, "gasPrice": "0x0"}
        await self.rpc.call("eth_sendTransaction", [transaction])

    async def deploy(self) -> None:
        for name in ("DIDRegistry", "VaultAccount", "AppFactory"):
            await self.send(_FROM, DETERMINISTIC_DEPLOYER, "0x" + load(name).deployment.hex())
            await self.mine()
            assert await self.rpc.get_code(load(name).address) == load(name).runtime

    async def write(self, writes: int) -> None:
        """Send some registrations and changes, in two blocks, because a claim must follow its commitment."""
        claims = [self._claim() for _ in range(self.rng.randrange(writes + 1))]
        for did, alias, controller, _ in claims:
            await self.send(_FROM, REGISTRY, commit(did, alias, controller))
        await self.mine()
        for did, alias, controller, cid in claims:
            data = register_foreign(did, alias, cid)
            await self.send(controller, REGISTRY, data)
        for _ in range(self.rng.randrange(writes + 1)):
            await self._change()
        await self.mine(self.rng.choice([1, 1, 2]))

    def _claim(self) -> tuple[str, bytes, bytes, str]:
        """Return a claim to a DID other than a `did:new`, which any address may register without an account."""
        did, alias, controller = (
            f"did:web:{self.rng.randbytes(8).hex()}",
            self.rng.randbytes(32),
            self.rng.randbytes(20),
        )
        name = keccak256(did.encode())
        self.controllers[name] = controller
        self.aliases.append(alias)
        self.alias_of[name] = alias
        return did, alias, controller, "bafy" + self.rng.randbytes(6).hex()

    async def _change(self) -> None:
        """Make one change. The registry may refuse the change if a reorganisation has removed the changed record."""
        rng = self.rng
        kind = rng.choice(["account", "metadata", "status", "alias", "controller", "key"])
        if kind == "account":
            await self._create_account()
            return
        if kind == "key":
            await self._change_key()
            return
        did = await self._living_did()
        if did is None:
            return
        controller, flag = self.controllers[did], rng.random() < 0.5
        if kind == "metadata":
            await self.send(controller, REGISTRY, call_data("setMetadata(bytes32,string)", did, str(rng.random())))
        elif kind == "status":
            await self.send(controller, REGISTRY, call_data("setDidActive(bytes32,bool)", did, flag))
        elif kind == "alias":
            alias = self.alias_of[did]
            await self.send(controller, REGISTRY, call_data("setAliasActive(bytes32,bool)", alias, flag))
        else:
            await self._change_controller(did, controller)

    async def _create_account(self) -> None:
        self.salt += 1
        self.accounts.append(bytes.fromhex(predict_account(*GENERATOR, self.salt)[2:]))
        await self.send(_FROM, FACTORY, call_data("createAccount(uint256,uint256,uint256)", *GENERATOR, self.salt))

    async def _change_key(self) -> None:
        """Change an account's key in a call from the account itself, as a user operation does.

        Reorganisations may have undone it.
        """
        if self.accounts:
            account = self.rng.choice(self.accounts)
            point = ec.derive_private_key(self.rng.randrange(1, 2**200), ec.SECP256R1()).public_key().public_numbers()
            await self.send(account, account, call_data("setPublicKey(uint256,uint256)", point.x, point.y))

    async def key(self, account: bytes) -> bytes | None:
        """Return the public key (X ‖ Y) that the account's contract reports, or None if there is no account."""
        if not await self.rpc.get_code("0x" + account.hex()):
            return None
        return await self.rpc.eth_call("0x" + account.hex(), abi.call_data("publicKey()"), at_least=64)

    async def _living_did(self) -> bytes | None:
        """Return a DID that still exists after all reorganisations, and update its controller from the registry."""
        tried = sorted(self.controllers)
        for did in self.rng.sample(tried, min(20, len(tried))):
            record = await self.did(did)
            if record is not None:
                self.controllers[did] = record["controller"]
                return did
        return None

    async def _change_controller(self, did: bytes, controller: bytes) -> None:
        successor = self.rng.randbytes(20)
        await self.send(controller, REGISTRY, call_data("changeController(bytes32,address)", did, successor))
        await self.mine()
        await self.send(successor, REGISTRY, call_data("acceptController(bytes32)", did))

    async def did(self, did: bytes) -> dict[str, Any] | None:
        answer = await self._view("getDid(bytes32)", did)
        controller, active, size = answer[12:32], answer[63], int.from_bytes(answer[96:128])
        return {"controller": controller, "active": bool(active), "cid": answer[128 : 128 + size].decode()} if any(
            controller
        ) else None  # fmt: skip

    async def alias(self, alias: bytes) -> dict[str, Any] | None:
        answer = await self._view("getAlias(bytes32)", alias)
        known = any(answer[:32])
        return {"did": answer[:32], "controller": answer[44:64], "active": bool(answer[95])} if known else None

    async def _view(self, signature: str, key: bytes) -> bytes:
        return await self.rpc.eth_call(addresses.DID_REGISTRY, abi.call_data(signature, key), at_least=96)


def commit(did: str, alias: bytes, controller: bytes) -> str:
    """Return the call data with which this controller commits to a later `register_foreign`."""
    return call_data(
        "commit(bytes32)", keccak256(keccak256(did.encode()) + alias + controller.rjust(32, b"\0") + bytes(32))
    )


def register_foreign(did: str, alias: bytes, cid: str) -> str:
    return call_data("registerForeign(string,bytes32,bytes32,string)", did, alias, bytes(32), cid)


def _text(address: bytes | str) -> str:
    return address if isinstance(address, str) else "0x" + address.hex()


@asynccontextmanager
async def running(rng: random.Random) -> AsyncIterator[Anvil]:
    options = ("--no-mining", "--auto-impersonate", "--gas-price", "0", "--block-base-fee-per-gas", "0")
    with run_anvil(Tools("", CHECKOUT), "--chain-id", "84532", *options) as fresh:
        async with aiohttp.ClientSession() as session:
            anvil = Anvil(fresh.url, RpcClient(fresh.url, AiohttpTransport(session)), rng)
            await anvil.deploy()
            yield anvil
