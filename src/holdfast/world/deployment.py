"""Puts both entry points and our contracts where they stand on every chain, and fills the sponsor's deposits.

All go through the deterministic deployer (anvil starts with it in place), whose call data is 32 bytes of salt and the
init code: published code and salts for the entry points, the package's own data for ours. Nothing is compiled.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.chain.calls import call_data
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, DEVELOPMENT, PRODUCTION, load
from holdfast.chain.entry_points import ENTRY_POINTS, EntryPoint
from holdfast.wire.encoding import from_hex
from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from holdfast.world.anvil import LocalChain
    from holdfast.world.tools import Tools


_DEPOSIT_WEI = 100 * 10**18


async def deploy_entry_points(chain: LocalChain, tools: Tools, deployer: str) -> None:
    """Deploy what is missing, paid by the address `deployer`. Raises WorldError where one is not there afterwards."""
    for entry_point in ENTRY_POINTS:
        await _deploy(chain, tools, deployer, entry_point)


async def deploy_contracts(chain: LocalChain, deployer: str) -> None:
    """Deploy our contracts, the development ones included, where they are missing; fill the sponsor's deposits."""
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
    paymaster = load("DevPaymaster").address
    held = await chain.rpc.eth_call(entry_point.address, call_data("balanceOf(address)", paymaster))
    if int.from_bytes(held) < _DEPOSIT_WEI // 2:
        deposit = call_data("deposit(address)", entry_point.address)
        await chain.transact(payer, paymaster, deposit, _DEPOSIT_WEI)


async def _deploy(chain: LocalChain, tools: Tools, deployer: str, entry_point: EntryPoint) -> None:
    if await chain.rpc.get_code(entry_point.address):
        return
    artifact = json.loads(tools.entry_point_artifact(entry_point.version).read_text())
    init_code = from_hex(entry_point.salt) + from_hex(artifact["bytecode"])
    await chain.transact(deployer, DETERMINISTIC_DEPLOYER, init_code)
    if not await chain.rpc.get_code(entry_point.address):
        raise WorldError(f"EntryPoint {entry_point.version} did not reach its canonical address")
