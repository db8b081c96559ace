"""Which nonce the next operation of an account's owners has, and which the next one that spends by a permission."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.account_calls import PERMISSION
from holdfast.chain.errors import RpcError
from holdfast.wire.abi import WORD, selector
from holdfast.wire.keccak import checksum_address, keccak256

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation

_SEQUENCE_BITS = 64  # ERC-4337: the rest is the nonce's key
_SPEND = selector(f"spend({PERMISSION},address,uint256,bytes)")
_STATE = selector(f"permissionState({PERMISSION})")
_WORDS = slice(4, 4 + 9 * WORD)  # of the permission in the call data of `spend`
_KEY_BYTES = 24  # of the permission's ID


async def has_next_nonce(rpc: RpcClient, entry_point: str, operation: UserOperation) -> bool:
    """Return whether the operation could be mined as the next one with its nonce's key. Raises RpcError, ValueError.

    Raises ValueError for a key that is neither 0 nor that of a permission (decision 1003), which the owners granted and
    by which the operation spends. An account has a nonce for each of 2^192 keys, so anyone could name unused ones.
    """
    key, account = nonce_key(operation), checksum_address(operation.sender)
    nonce = rpc.eth_call(entry_point, call_data("getNonce(address,uint192)", account, key))
    answer, known = await asyncio.gather(nonce, _is_of_permission(rpc, account, key, operation.call_data))
    if not known:
        raise ValueError("the operation's nonce must have the key 0, or that of the permission by which it spends")
    return int.from_bytes(answer[:WORD]) == operation.nonce


def nonce_key(operation: UserOperation) -> int:
    """Return the key of the operation's nonce (ERC-4337), 0 for the owners' operations."""
    return operation.nonce >> _SEQUENCE_BITS


async def _is_of_permission(rpc: RpcClient, account: str, key: int, data: bytes) -> bool:
    if key == 0:
        return True
    words = data[_WORDS]
    if data[:4] != _SPEND or keccak256(words)[:_KEY_BYTES] != key.to_bytes(_KEY_BYTES):
        return False
    try:
        state = await rpc.eth_call(account, _STATE + words, at_least=0)
    except RpcError as error:
        if error.code is None:
            raise
        return False  # it reverts, because the words make no permission
    return int.from_bytes(state[:WORD]) == 1
