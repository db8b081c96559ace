"""Sends transactions once, and waits until they are mined."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.errors import RpcError
from holdfast.chain.fees import fees_of_chain
from holdfast.chain.transactions import Transaction
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.values import Receipt

MINED_WITHIN_S = 180.0
_LOOK_EVERY_S = 0.25


async def transact(rpc: RpcClient, key: PrivateKey, to: str, data: bytes, value: int = 0) -> Receipt:
    """Send a transaction from a key's address at the chain's fees, and return its receipt once it is mined.

    Args:
        rpc: of the chain.
        key: pays for gas and value.
        to: the called address.
        data: call data.
        value: wei to send along.

    Raises:
        RpcError: the transaction would revert, the address cannot pay, or the chain does not respond.
        TimeoutError: it was sent, or may have been, and was not seen mined.
    """
    sender, chain_id = key.public_key.to_checksum_address(), await rpc.chain_id()
    call = {"from": sender, "to": to, "data": to_hex(data), "value": hex(value)}
    gas = values.quantity(await rpc.call("eth_estimateGas", [call]))
    fees = await fees_of_chain(rpc, chain_id)
    transaction = Transaction(
        chain_id=chain_id,
        nonce=values.quantity(await rpc.call("eth_getTransactionCount", [sender, "pending"])),
        max_priority_fee_per_gas=fees.max_priority_fee_per_gas,
        max_fee_per_gas=fees.max_fee_per_gas,
        gas=gas + gas // 10,
        to=from_hex(to),
        data=data,
        value=value,
    )
    try:
        sent = await send_raw(rpc, transaction.signed(key))
    except RpcError as error:
        if error.code is not None:
            raise
        raise TimeoutError from error
    try:
        return await mined(rpc, sent)
    except RpcError as error:
        raise TimeoutError from error


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
