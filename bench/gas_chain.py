"""The chain on which `gas` measures: anvil with the P-256 precompile, the entry points, our contracts, the peers'."""

from __future__ import annotations

import json
import subprocess
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from bench.places import ACCOUNTS, say
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES, DETERMINISTIC_DEPLOYER
from holdfast.chain.contracts.create2 import create2_address
from holdfast.chain.handle_ops import handle_ops, handled_in
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.transports import AiohttpTransport
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address, keccak256
from holdfast.world.accounts import unlock
from holdfast.world.anvil import CHAIN_ID, ChainOptions, start_chain
from holdfast.world.deployment import deploy_contracts, deploy_entry_points
from holdfast.world.processes import Supervisor
from holdfast.world.tools import find_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from holdfast.chain.entry_points import EntryPoint
    from holdfast.chain.user_operations import UserOperation
    from holdfast.chain.values import Receipt
    from holdfast.world.anvil import LocalChain

USDC = ADDRESSES["DevUSDC"]
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
_SALT = bytes(32)
_SAFE = ACCOUNTS / "node_modules" / "@safe-global"


@dataclass(frozen=True, slots=True)
class GasChain:
    """A chain whose bundler is one address of anvil's."""

    chain: LocalChain
    bundler: str

    async def send(self, to: str, data: bytes) -> Receipt:
        """Send a transaction. Raises RpcError if it fails."""
        receipt = await self.chain.rpc.get_transaction_receipt(await self.chain.transact(self.bundler, to, data))
        assert receipt is not None
        return receipt

    async def ask(self, to: str, signature: str, *values: object) -> bytes:
        """Call a function without a transaction, and return what it returns."""
        return await self.chain.rpc.eth_call(to, call_data(signature, *values))

    async def address(self, to: str, signature: str, *values: object) -> str:
        """Call a function that returns an address, without a transaction."""
        return checksum_address((await self.ask(to, signature, *values))[12:32])

    async def usdc_of(self, holder: str) -> int:
        """Return a balance."""
        return int.from_bytes(await self.ask(USDC, "balanceOf(address)", holder))

    async def give(self, holder: str, usdc: int) -> None:
        """Give an address test dollars, and ten of the chain's coin."""
        await self.chain.rpc.call("anvil_setBalance", [holder, hex(10 * 10**18)])
        await self.send(USDC, call_data("mint(address,uint256)", holder, usdc))

    async def deploy(self, init_code: str, *addresses: str) -> str:
        """Deploy a contract whose constructor takes these addresses, and return its address."""
        code = from_hex(init_code) + b"".join(bytes(12) + from_hex(address) for address in addresses)
        await self.send(DETERMINISTIC_DEPLOYER, _SALT + code)
        return create2_address(DETERMINISTIC_DEPLOYER, _SALT, keccak256(code))

    async def handle(self, operation: UserOperation, entry_point: EntryPoint) -> int:
        """Return the gas of the transaction with one operation. Raises RuntimeError if the operation fails."""
        receipt = await self.send(entry_point.address, handle_ops(operation, self.bundler))
        digest = operation_hash(operation, entry_point=entry_point.address, chain_id=CHAIN_ID)
        handled = handled_in(receipt, entry_point.address, digest)
        if handled is None or not handled.succeeded:
            raise RuntimeError("the operation failed")
        return receipt.gas_used


@asynccontextmanager
async def opened(logs: Path) -> AsyncIterator[GasChain]:
    """Start the chain with all that is not a peer's, and stop it at the end of the `with` block."""
    tools = await find_tools(say)
    async with aiohttp.ClientSession() as session, Supervisor(logs) as supervisor:
        chain = await start_chain(supervisor, tools, AiohttpTransport(session), ChainOptions())
        bundler = (await unlock(chain.rpc, chain.rpc_url)).tester.address
        await deploy_entry_points(chain, tools, bundler)
        await deploy_contracts(chain, bundler)
        await GasChain(chain, bundler).give(PAYEE, 1)
        yield GasChain(chain, bundler)


def safe_artifact(package: str, source: str) -> str:
    """Return the published init code of one of Safe's contracts; `source` is its path below the artifacts."""
    name = source.rpartition("/")[2]
    file = _SAFE / package / "build" / "artifacts" / "contracts" / f"{source}.sol" / f"{name}.json"
    return str(json.loads(file.read_text())["bytecode"])


def compiled(node: str) -> dict[str, str]:
    """Compile the peers' sources, and return the init code by the contract's name. Raises RuntimeError."""
    done = subprocess.run([node, "compile.mjs"], cwd=ACCOUNTS, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    if wrong := [each for each in answer.get("errors", []) if each["severity"] == "error"]:
        raise RuntimeError(wrong[0]["formattedMessage"])
    found = {name: each for source in answer["contracts"].values() for name, each in source.items()}
    return {name: "0x" + each["evm"]["bytecode"]["object"] for name, each in found.items()}
