"""Reads an account's token transfers from the chain when they are asked for, the newest first (ERC-20, EIP-1474).

They are not stored: a token's logs are many, those of one account few, and an endpoint finds them by their topics.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.chain import values
from holdfast.chain.errors import RpcError
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from holdfast.chain.values import Log
    from holdfast.indexer.logs import Rpc

TRANSFER = keccak256(b"Transfer(address,address,uint256)")
ROWS = 20  # of a page; all transfers of its oldest block are on it too
_RANGES = 6  # that one request looks through at most
_FIRST_SIZE = 50_000  # blocks
_AT_ONCE = 4  # requests that read from the endpoint concurrently
LATEST_TIMES = 4_096
_LAST_SECOND = 253_402_300_799  # of the year 9999


class Transfer(NamedTuple):
    """One transfer of the token from or to the account. `time`: of its block, in seconds since 1970."""

    sender: bytes
    recipient: bytes
    amount: int
    block_number: int
    log_index: int
    tx_hash: bytes
    time: int


class TransferPage(NamedTuple):
    """Transfers, the newest first. `following`: the block from which the next page looks back; None after the last."""

    transfers: list[Transfer]
    following: int | None


class TransferReader:
    """Finds transfers of one token. `token`: its address, or None for a chain without it.

    `brief` is the same endpoint with a small size limit for ranges of blocks. An account can have thousands of
    transfers in a range; parsing them takes half a second.
    """

    def __init__(self, rpc: Rpc, token: bytes | None, floor: int, brief: Rpc | None = None) -> None:
        self._rpc, self._brief = rpc, brief or rpc
        self.token = token
        self._floor = floor
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._times: dict[int, tuple[bytes, int]] = {}

    async def page(self, account: bytes, top: int) -> TransferPage:
        """Return the transfers in the blocks up to `top`, or those of the newest blocks in it.

        Raises RpcError.
        """
        if self.token is None or top < self._floor:
            return TransferPage([], None)
        async with self._turns:
            logs, below = await self._look_back(account, top)
            logs, below = _cut(sorted(logs, key=lambda log: (log.block_number, log.index), reverse=True), below)
            times = await self._times_of(logs)
        shown = [_transfer(log, times[log.block_number]) for log in logs]
        return TransferPage(shown, below if below >= self._floor else None)

    async def _look_back(self, account: bytes, top: int) -> tuple[list[Log], int]:
        found: list[Log] = []
        size, last = _FIRST_SIZE, top
        for _ in range(_RANGES):
            first = max(self._floor, last - size + 1)
            try:
                found += await self._of_range(account, first, last)
            except RpcError:
                if size == 1:
                    raise
                size = max(1, size // 8)  # endpoints refuse large ranges, each in its way
                continue
            last = first - 1
            if len(found) >= ROWS or last < self._floor:
                break
        else:
            if last == top:
                raise RpcError("the endpoint returns no logs")
        return found, last

    async def _of_range(self, account: bytes, first: int, last: int) -> list[Log]:
        topic, party = "0x" + TRANSFER.hex(), "0x" + account.rjust(32, b"\0").hex()
        blocks = {"fromBlock": hex(first), "toBlock": hex(last), "address": ["0x" + (self.token or b"").hex()]}
        rpc = self._rpc if first == last else self._brief
        groups = await asyncio.gather(
            rpc.call("eth_getLogs", [{**blocks, "topics": [topic, party]}]),
            rpc.call("eth_getLogs", [{**blocks, "topics": [topic, None, party]}]),
        )
        logs = {(log.block_hash, log.index): log for group in groups for log in values.logs(group)}
        return [log for log in logs.values() if _fits(log, self.token, account, first, last)]

    async def _times_of(self, logs: list[Log]) -> dict[int, int]:
        wanted = {log.block_number: log.block_hash for log in logs}
        found = {number: self._times.get(number) for number in wanted}
        known = {number: seen[1] for number, seen in found.items() if seen is not None and seen[0] == wanted[number]}
        missing = [number for number in wanted if number not in known]
        requests = (self._rpc.call("eth_getBlockByNumber", [hex(number), False]) for number in missing)
        blocks = await asyncio.gather(*requests)
        for number, block in zip(missing, blocks, strict=True):
            known[number] = _time(block)
            self._times[number] = (wanted[number], known[number])
        while len(self._times) > LATEST_TIMES:
            del self._times[next(iter(self._times))]
        return known  # other requests may have displaced what this one found


def _cut(logs: list[Log], below: int) -> tuple[list[Log], int]:
    """Return the newest logs, up to and with the block in which the page is full, and the block below."""
    if len(logs) <= ROWS:
        return logs, below
    oldest = logs[ROWS - 1].block_number
    return [log for log in logs if log.block_number >= oldest], oldest - 1


def _fits(log: Log, token: bytes | None, account: bytes, first: int, last: int) -> bool:
    """Return whether the log is what was asked for: endpoints are not trusted."""
    if log.address != token or not first <= log.block_number <= last or len(log.topics) != _INDEXED:
        return False
    return log.topics[0] == TRANSFER and len(log.data) == _WORD and account in map(_party, log.topics[1:])


_INDEXED, _WORD = 3, 32


def _party(topic: bytes) -> bytes:
    return topic[12:]


def _transfer(log: Log, time: int) -> Transfer:
    sender, recipient = map(_party, log.topics[1:])
    amount = int.from_bytes(log.data)
    return Transfer(sender, recipient, amount, log.block_number, log.index, log.transaction_hash, time)


def _time(block: Any) -> int:
    if not isinstance(block, dict):
        raise RpcError("answer is not a block")
    time = values.count(block.get("timestamp"))
    if time > _LAST_SECOND:
        raise RpcError("answer has no time")
    return time
