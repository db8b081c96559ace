"""Posts commitments on behalf of others for the sponsor, within limits (docs/local-world.md).

Sponsorship is requested before an operation is signed, so a stranger's request costs the stranger nothing but costs the
sponsor one transaction per commitment. Therefore the operation's sender is checked, and the commitments are limited per
operation and per minute.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES, commitments_needed, predict_account
from holdfast.chain.contracts.create2 import clone_code
from holdfast.chain.errors import RpcError
from holdfast.wire.abi import selector
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.chain.user_operations import UserOperation
    from holdfast.world.anvil import LocalChain

REGISTRY = ADDRESSES["DIDRegistry"]
MOST_FOR_ONE_OPERATION = 4
MOST_IN_A_MINUTE = 120
_WINDOW_S = 60.0
_CREATE = selector("createAccount(uint256,uint256,uint256)")
_WORD = 32
# Commitments older than this are posted again, because they expire an hour later, at the age of one day.
_LAPSES_AFTER_S = 23 * 3600
_LIMIT_EXCEEDED = -32005  # EIP-1474


class Rate:
    """A limit of `most` events in any minute, as measured by `clock`, which returns seconds."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._spent: deque[float] = deque()

    def spend(self, count: int) -> None:
        """Count `count` more. Raises RpcError, and counts none, if they are too many."""
        now = self._clock()
        while self._spent and self._spent[0] <= now - _WINDOW_S:
            self._spent.popleft()
        if len(self._spent) + count > self._most:
            raise RpcError(f"the sponsor posts at most {self._most} commitments a minute: try again", _LIMIT_EXCEEDED)
        self._spent.extend([now] * count)


class Commitments:
    """Posts commitments from `account`, which anvil manages.

    The methods must not run concurrently, as anvil chooses the nonce.
    """

    def __init__(self, chain: LocalChain, account: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._chain = chain
        self._account = account
        self._rate = Rate(MOST_IN_A_MINUTE, clock)

    async def prepare(self, operation: UserOperation) -> None:
        """Post the commitments that the registry requires for an operation (docs/decisions/0520-a-did-is-its-keys.md).

        Raises ValueError for an operation that no account of our factory could execute, or that claims too much;
        RpcError above the rate.
        """
        needed = commitments_needed(checksum_address(operation.sender), operation.call_data, REGISTRY)
        if not needed:
            return
        if len(needed) > MOST_FOR_ONE_OPERATION:
            raise ValueError(f"an operation may make at most {MOST_FOR_ONE_OPERATION} claims")
        await self._require_account(operation)
        await self._post([each for each in dict.fromkeys(needed) if not await self._posted_in(each)])
        await self.pass_a_block(operation)

    async def pass_a_block(self, operation: UserOperation) -> None:
        """Mine a block if the operation's commitment is in the newest block.

        Gas is estimated in the newest block, but a commitment, even one that the account posted, must be in an earlier
        block. Only as many claims as `prepare` would accept are considered.
        """
        needed = commitments_needed(checksum_address(operation.sender), operation.call_data, REGISTRY)
        newest = await self._chain.rpc.block_number() if needed else 0
        if newest in [await self._posted_in(each) for each in needed[:MOST_FOR_ONE_OPERATION]]:
            await self._chain.rpc.call("evm_mine")

    async def _require_account(self, operation: UserOperation) -> None:
        """Raise unless the sender is an account of the factory or is created by this operation."""
        if operation.factory is not None:
            if creates(operation) != operation.sender:
                raise ValueError("the sender is not the account that the operation's factory data creates")
        elif await self._chain.rpc.get_code(checksum_address(operation.sender)) != _ACCOUNT_CODE:
            raise ValueError("the sender is not an account of the factory, and the operation does not create it")

    async def _post(self, missing: Sequence[bytes]) -> None:
        self._rate.spend(len(missing))
        for commitment in missing:
            await self._chain.transact(self._account, REGISTRY, call_data("commit(bytes32)", commitment))

    async def _posted_in(self, commitment: bytes) -> int:
        """Return the block that contains a commitment, or zero if it expires too soon or does not exist."""
        answer = await self._chain.rpc.eth_call(REGISTRY, call_data("committedAt(bytes32)", commitment), at_least=64)
        block, posted_at = int.from_bytes(answer[:32]), int.from_bytes(answer[32:64])
        return block if await self._now() < posted_at + _LAPSES_AFTER_S else 0

    async def _now(self) -> int:
        block = await self._chain.rpc.call("eth_getBlockByNumber", ["latest", False])
        return values.quantity(block["timestamp"])


def creates(operation: UserOperation) -> bytes | None:
    """Return the address of the account that the operation's factory data creates, or None for any other factory."""
    data = operation.factory_data or b""
    if operation.factory != _FACTORY or data[:4] != _CREATE or len(data) != 4 + 3 * _WORD:
        return None
    x, y, salt = (int.from_bytes(data[start : start + _WORD]) for start in range(4, len(data), _WORD))
    return from_hex(predict_account(x, y, salt))


_FACTORY = from_hex(ADDRESSES["AppFactory"])
_ACCOUNT_CODE = clone_code(ADDRESSES["VaultAccount"])
