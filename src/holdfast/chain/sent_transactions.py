"""Sends a signed transaction once, and waits until it is mined."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.values import Receipt

MINED_WITHIN_S = 180.0
_LOOK_EVERY_S = 0.25


async def send_raw(rpc: RpcClient, raw: bytes) -> str:
    """Send the transaction once and return its hash. Raises RpcError if the endpoint returns another hash."""
    sent = to_hex(keccak256(raw))
    if await rpc.call("eth_sendRawTransaction", [to_hex(raw)]) != sent:
        raise RpcError("the endpoint names another transaction than the one it was sent")
    return sent


async def mined(rpc: RpcClient, sent: str, within_s: float = MINED_WITHIN_S) -> Receipt:
    """Return the transaction's receipt. Raises TimeoutError if it is not mined in time; RpcError."""
    async with asyncio.timeout(within_s):
        while (receipt := await rpc.get_transaction_receipt(sent)) is None:  # noqa: ASYNC110 - no notice comes
            await asyncio.sleep(_LOOK_EVERY_S)
    return receipt
