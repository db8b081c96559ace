"""Deploys the entry points and our contracts to the addresses that they have on every chain, and funds the sponsor.

Holdfast's contracts and the older entry points go through anvil's built-in deterministic deployer, whose call data
is 32 bytes of salt and the init code: published code and salts for the entry points, the package's own data for ours.
npm has no init code of EntryPoint 0.9, so the code that Ethereum mainnet has is set at its address. Nothing is
compiled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, DEVELOPMENT, PRODUCTION, load
from holdfast.chain.entry_points import ENTRY_POINTS, EntryPoint
from holdfast.wire.encoding import from_hex
from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from holdfast.world.anvil import LocalChain
    from holdfast.world.tools import Tools

ENTRY_POINT_V09_CODE = Path(__file__).with_name("entry_point_v09.json")
_DEPOSIT_WEI = 100 * 10**18


async def deploy_entry_points(chain: LocalChain, tools: Tools, deployer: str) -> None:
    """Deploy the missing entry points, for which the address `deployer` pays.

    Raises WorldError if one is missing afterwards.
    """
    for entry_point in ENTRY_POINTS:
        await _deploy(chain, tools, deployer, entry_point)


async def deploy_contracts(chain: LocalChain, deployer: str) -> None:
    """Deploy our missing contracts, including those for development, and top up the sponsor's deposits."""
    for name in (*PRODUCTION, *DEVELOPMENT):
        contract = load(name)
        if await chain.rpc.get_code(contract.address):
            continue
        await chain.transact(deployer, DETERMINISTIC_DEPLOYER, contract.deployment)
        if await chain.rpc.get_code(contract.address) != contract.runtime:
            raise WorldError(f"{name} did not reach its address with its code")
    for entry_point in ENTRY_POINTS:
        await _fill_deposit(chain, deployer, entry_point)


async def _fill_deposit(chain: LocalChain, payer: str, entry_point: EntryPoint) -> None:
    paymaster = load("VerifyingPaymaster").address
    held = await chain.rpc.eth_call(entry_point.address, call_data("balanceOf(address)", paymaster))
    if int.from_bytes(held) < _DEPOSIT_WEI // 2:
        deposit = call_data("deposit(address)", entry_point.address)
        await chain.transact(payer, paymaster, deposit, _DEPOSIT_WEI)


async def _deploy(chain: LocalChain, tools: Tools, deployer: str, entry_point: EntryPoint) -> None:
    if await chain.rpc.get_code(entry_point.address):
        return
    if entry_point.salt is None:
        await _install(chain)
        return
    artifact = json.loads(tools.entry_point_artifact(entry_point.version).read_text())
    init_code = from_hex(entry_point.salt) + from_hex(artifact["bytecode"])
    await chain.transact(deployer, DETERMINISTIC_DEPLOYER, init_code)
    if not await chain.rpc.get_code(entry_point.address):
        raise WorldError(f"EntryPoint {entry_point.version} did not reach its canonical address")


async def _install(chain: LocalChain) -> None:
    """Set the code of EntryPoint 0.9, and of the helper contract with which it creates accounts, at their addresses.

    Setting the code is equivalent to a deployment: the constructor stores nothing, and the code recomputes the EIP-712
    domain if the chain ID differs. The entry point's nonce is set to that of a contract that has created one other
    contract.
    """
    found = json.loads(ENTRY_POINT_V09_CODE.read_text(encoding="utf-8"))
    for part in (found["entryPoint"], found["senderCreator"]):
        await chain.rpc.call("anvil_setCode", [part["address"], part["code"]])
    await chain.rpc.call("anvil_setNonce", [found["entryPoint"]["address"], "0x2"])
    await chain.rpc.call("anvil_setNonce", [found["senderCreator"]["address"], "0x1"])
