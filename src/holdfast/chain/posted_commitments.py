"""Posts an operation's commitments before its gas is estimated (docs/contracts.md, "Claims").

Sponsorship is requested before an operation is signed, so a stranger's request costs the stranger nothing but costs the
service one transaction per commitment. Therefore the operation's sender is checked, and the commitments are limited per
operation; `post` and its caller limit them further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES, commitments_needed, is_clone, predict_account
from holdfast.wire.abi import selector
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation

REGISTRY = ADDRESSES["DIDRegistry"]
MOST_FOR_ONE_OPERATION = 4
_CREATE = selector("createAccount(uint256,uint256,uint256)")
_WORD = 32
# Commitments older than this are posted again, because they expire an hour later, at the age of one day.
_LAPSES_AFTER_S = 23 * 3600


class Poster(Protocol):
    """Sends transactions."""

    async def post(self, commitments: Sequence[bytes]) -> None:
        """Post these commitments, and return once they are mined. Raises ChainError."""
        ...

    async def next_block(self, after: int) -> None:
        """Return once there is a block after the one with this number, or after some seconds. Raises RpcError."""
        ...


class PostedCommitments:
    """Posts an operation's missing commitments through `poster`."""

    def __init__(self, rpc: RpcClient, poster: Poster) -> None:
        self._rpc, self._poster = rpc, poster

    async def missing(self, operation: UserOperation) -> list[bytes]:
        """Return the commitments that the registry requires for an operation and that are not on the chain.

        Raises ValueError for an operation that no account of our factory could execute, or that claims too much;
        RpcError.
        """
        needed = _needed(operation)
        if not needed:
            return []
        if len(needed) > MOST_FOR_ONE_OPERATION:
            raise ValueError(f"an operation may make at most {MOST_FOR_ONE_OPERATION} claims")
        await require_account(self._rpc, operation)
        return [each for each in dict.fromkeys(needed) if not await self._posted_in(each)]

    async def prepare(self, operation: UserOperation) -> None:
        """Post the commitments that an operation needs. Raises as `missing` does, and what `post` raises."""
        if missing := await self.missing(operation):
            await self._poster.post(missing)
        await self.pass_a_block(operation)

    async def pass_a_block(self, operation: UserOperation) -> None:
        """Wait for a block if a commitment of the operation is in the newest block, or in a newer one.

        Gas is estimated in the newest block, but a commitment, even one that the account posted, must be in an earlier
        block. Only as many claims as `missing` would accept are considered.
        """
        needed = _needed(operation)
        newest = await self._rpc.block_number() if needed else 0
        last = max([0, *[await self._posted_in(each) for each in needed[:MOST_FOR_ONE_OPERATION]]])
        if last and last >= newest:
            await self._poster.next_block(last)

    async def _posted_in(self, commitment: bytes) -> int:
        """Return the block that contains a commitment, or zero if it expires too soon or does not exist."""
        answer = await self._rpc.eth_call(REGISTRY, call_data("committedAt(bytes32)", commitment), at_least=64)
        block, posted_at = int.from_bytes(answer[:32]), int.from_bytes(answer[32:64])
        return block if await self._rpc.block_time() < posted_at + _LAPSES_AFTER_S else 0


def _needed(operation: UserOperation) -> list[bytes]:
    return commitments_needed(checksum_address(operation.sender), operation.call_data, REGISTRY)


async def require_account(rpc: RpcClient, operation: UserOperation) -> None:
    """Raise ValueError unless the sender is an account of the factory or is created by this operation.

    Raises RpcError.
    """
    if operation.factory is not None:
        if creates(operation) != operation.sender:
            raise ValueError("the sender is not the account that the operation's factory data creates")
    elif not is_clone(await rpc.get_code(checksum_address(operation.sender)), ADDRESSES["VaultAccount"]):
        raise ValueError("the sender is not an account of the factory, and the operation does not create it")


def creates(operation: UserOperation) -> bytes | None:
    """Return the address of the account that the operation's factory data creates, or None for any other factory."""
    key = key_in(operation)
    return None if key is None else from_hex(predict_account(*key))


def key_in(operation: UserOperation) -> tuple[int, int, int] | None:
    """Return X, Y and salt in the operation's factory data, or None for any other factory."""
    data = operation.factory_data or b""
    if operation.factory != _FACTORY or data[:4] != _CREATE or len(data) != 4 + 3 * _WORD:
        return None
    x, y, salt = (int.from_bytes(data[start : start + _WORD]) for start in range(4, len(data), _WORD))
    return x, y, salt


_FACTORY = from_hex(ADDRESSES["AppFactory"])
