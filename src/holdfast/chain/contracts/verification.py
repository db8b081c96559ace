"""Checks whether exactly our code is deployed at our contracts' addresses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.chain.contracts.artifacts import PRODUCTION, Contract, load
from holdfast.chain.entry_points import ENTRY_POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.chain.rpc import RpcClient


class ContractStatus(StrEnum):
    """What was found at a contract's address: our code, no code or other code."""

    EXACT = "exact"  # our code, byte for byte
    MISSING = "missing"  # no code
    OTHER = "other"  # some other code


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """The result for one contract."""

    contract: Contract
    status: ContractStatus


async def inspect(rpc: RpcClient, names: Sequence[str] = PRODUCTION) -> list[ContractFinding]:
    """Return what was found at each named contract's address, in the order of `names`. Raises RpcError."""
    contracts = [load(name) for name in names]
    codes = await asyncio.gather(*(rpc.get_code(contract.address) for contract in contracts))
    return [ContractFinding(contract, judge(contract, code)) for contract, code in zip(contracts, codes, strict=True)]


def judge(contract: Contract, code: bytes) -> ContractStatus:
    """Return a contract's status, given the code that was found at its address."""
    if not code:
        return ContractStatus.MISSING
    return ContractStatus.EXACT if code == contract.runtime else ContractStatus.OTHER


async def entry_points_present(rpc: RpcClient) -> dict[str, bool]:
    """Return, for each version of the entry point that accounts support, whether it is deployed. Raises RpcError."""
    codes = await asyncio.gather(*(rpc.get_code(entry_point.address) for entry_point in ENTRY_POINTS))
    return {point.version: bool(code) for point, code in zip(ENTRY_POINTS, codes, strict=True)}
