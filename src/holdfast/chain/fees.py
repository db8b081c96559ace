"""What gas costs now, read from the chain itself (EIP-1559)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain import values
from holdfast.chain.errors import RpcError

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient

# The base fee grows by at most an eighth a block (EIP-1559): twice today's lasts for five full blocks.
_BASE_FEES = 2


@dataclass(frozen=True, slots=True)
class Fees:
    """Wei per unit of gas."""

    max_fee_per_gas: int
    max_priority_fee_per_gas: int


async def fees_of_chain(rpc: RpcClient, chain_id: int) -> Fees:
    """Fees for an operation sent now: twice the newest block's base fee, and the tip that the endpoint suggests.

    A quarter is added to the tip: bundlers refuse operations whose tip is a little below their own.

    Raises:
        RpcError: No usable answer, or the endpoint is another chain's.
    """
    found, block, tip = await asyncio.gather(
        rpc.chain_id(), rpc.call("eth_getBlockByNumber", ["latest", False]), _suggested_tip(rpc)
    )
    if found != chain_id:
        raise RpcError(f"the endpoint is of chain {found}, not {chain_id}")
    base = _base_fee(block)
    tip = max(await _spread(rpc, base) if tip is None else tip, 1)
    tip += tip // 4
    return Fees(_BASE_FEES * base + tip, tip)


async def _suggested_tip(rpc: RpcClient) -> int | None:
    """The endpoint's suggestion, None where it knows no such method (EIP-1559 names none)."""
    try:
        return values.quantity(await rpc.call("eth_maxPriorityFeePerGas"))
    except RpcError as error:
        if error.code is None:
            raise
        return None


async def _spread(rpc: RpcClient, base: int) -> int:
    """What the endpoint's gas price leaves above the base fee."""
    return values.quantity(await rpc.call("eth_gasPrice")) - base


def _base_fee(block: Any) -> int:
    if not isinstance(block, dict) or "baseFeePerGas" not in block:
        raise RpcError("answer is not a block with a base fee")
    return values.quantity(block["baseFeePerGas"])
