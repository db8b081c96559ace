"""Posts commitments from a development account for the local world's sponsor, within a rate (docs/local-world.md)."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.chain.errors import RpcError
from holdfast.chain.posted_commitments import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.world.anvil import LocalChain

MOST_IN_A_MINUTE = 120
_WINDOW_S = 60.0
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


class DevelopmentPoster:
    """Posts commitments from `account`, which anvil manages.

    The methods must not run concurrently, as anvil chooses the nonce.
    """

    def __init__(self, chain: LocalChain, account: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._chain = chain
        self._account = account
        self._rate = Rate(MOST_IN_A_MINUTE, clock)

    async def post(self, commitments: Sequence[bytes]) -> None:
        """See Poster. Raises RpcError above the rate."""
        self._rate.spend(len(commitments))
        for commitment in commitments:
            await self._chain.transact(self._account, REGISTRY, call_data("commit(bytes32)", commitment))

    async def next_block(self, after: int) -> None:  # noqa: ARG002 - anvil mines none by itself
        """See Poster."""
        await self._chain.rpc.call("evm_mine")
