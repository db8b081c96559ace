"""The current gas price, read from the chain (EIP-1559)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.chain import values
from holdfast.chain.errors import RpcError

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient

# The base fee grows by at most an eighth per block (EIP-1559), so twice the latest base fee suffices for five full
# blocks.
_BASE_FEES = 2
_FEE_BITS = 128  # of each fee in an operation's packed form


class Fees(NamedTuple):
    """Wei per unit of gas (EIP-1559)."""

    max_fee_per_gas: int
    max_priority_fee_per_gas: int

    def at_least(self, other: Fees) -> Fees:
        """Return the higher of each."""
        return Fees(max(self[0], other[0]), max(self[1], other[1]))


async def fees_of_chain(rpc: RpcClient, chain_id: int) -> Fees:
    """Return the fees for an operation sent now: twice the latest base fee, plus the tip that the endpoint suggests.

    The suggested tip is raised by a quarter, as bundlers refuse operations whose tip is slightly below what they
    require.

    Raises:
        RpcError: No usable response, the endpoint serves another chain, or no operation could have such fees.
    """
    found, block, tip = await asyncio.gather(
        rpc.chain_id(), rpc.call("eth_getBlockByNumber", ["latest", False]), _suggested_tip(rpc)
    )
    if found != chain_id:
        raise RpcError(f"the endpoint serves chain {found}, not {chain_id}")
    base = _base_fee(block)
    tip = max(await _spread(rpc, base) if tip is None else tip, 1)
    tip += tip // 4
    if (fee := _BASE_FEES * base + tip) >> _FEE_BITS:
        raise RpcError("the gas price is more than an operation can offer")
    return Fees(fee, tip)


def base_fee_in(fees: Fees) -> int:
    """Return the base fee from which `fees_of_chain` made these fees."""
    return (fees.max_fee_per_gas - fees.max_priority_fee_per_gas) // _BASE_FEES


async def _suggested_tip(rpc: RpcClient) -> int | None:
    """Return the tip that the endpoint suggests, or None if it does not support `eth_maxPriorityFeePerGas`."""
    try:
        return values.quantity(await rpc.call("eth_maxPriorityFeePerGas"))
    except RpcError as error:
        if error.code is None:
            raise
        return None


async def _spread(rpc: RpcClient, base: int) -> int:
    """Return the difference between the endpoint's gas price and the block's base fee."""
    return values.quantity(await rpc.call("eth_gasPrice")) - base


def _base_fee(block: Any) -> int:
    if not isinstance(block, dict) or "baseFeePerGas" not in block:
        raise RpcError("answer is not a block with a base fee")
    return values.quantity(block["baseFeePerGas"])
