"""Reads ranges of blocks from a chain that may change in the meantime."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain import values
from holdfast.chain.errors import RpcError
from holdfast.indexer.logs import LogReader, of_block, of_range
from holdfast.indexer.ranges import marks
from holdfast.indexer.rows import IndexedBlock

if TYPE_CHECKING:
    from holdfast.chain.values import Log
    from holdfast.indexer.events import Decoder
    from holdfast.indexer.logs import Accounts, Rpc
    from holdfast.indexer.rows import Event


class ChainMoved(Exception):
    """The responses are inconsistent, or a block is missing: the range must be read again after a pause.

    Either the chain was reorganised while it was being read, or the endpoint lacks blocks that it claims to have.

    Args:
        missing: The number of the block that the endpoint lacks although it is not above its head; otherwise None.
    """

    def __init__(self, missing: int | None = None) -> None:
        super().__init__(
            "the endpoint's answers do not fit together"
            if missing is None
            else f"the endpoint has no block {missing}, which is not above its newest one"
        )


class RangeRefused(Exception):
    """The endpoint refused to return logs for a range of this many blocks, but may return them for a smaller range."""


class Batch(NamedTuple):
    """One range of blocks: the hashes to store, ascending and ending with the range's last block, and its events."""

    blocks: list[IndexedBlock]
    events: list[Event]

    @property
    def last(self) -> IndexedBlock:
        """The block up to which the index is complete after this batch."""
        return self.blocks[-1]


class _Header(NamedTuple):
    block: IndexedBlock
    parent_hash: bytes


class RangeReader:
    """Reads the chain for the follower. Every method of this class raises RpcError if the endpoint fails.

    `roomy` is the same endpoint with a larger size limit, used for the logs of single blocks that need it.
    """

    def __init__(self, rpc: Rpc, decoder: Decoder, roomy: Rpc | None = None) -> None:
        self._rpc = rpc
        self._decoder = decoder
        self._logs = LogReader(rpc, decoder, roomy)

    async def chain_id(self) -> int:
        """Return the chain's ID."""
        return values.quantity(await self._rpc.call("eth_chainId", []))

    async def head(self) -> IndexedBlock:
        """Return the newest block."""
        header = await self._header("latest")
        if header is None:
            raise RpcError("the endpoint has no latest block")
        return header.block

    async def blocks(self, numbers: list[int]) -> list[IndexedBlock | None]:
        """Return the blocks with these numbers; None for each that the chain lacks."""
        return [None if header is None else header.block for header in await self._headers(numbers)]

    async def read_range(
        self, first: int, last: int, head: int, parent: IndexedBlock | None, accounts: Accounts
    ) -> Batch:
        """Return the events of blocks `first` to `last`, all far below `head`, by eth_getLogs over their numbers.

        `accounts` returns the accounts that were created before `first`.

        The chain may change between two requests, so their order matters. The last block's hash is read before the
        logs: if the chain changes afterwards, that hash is stale, and the follower's next step detects it. A hash read
        after the logs could belong to a different fork from the logs. `parent` is checked after the logs, because they
        must build on it.

        Raises:
            ChainMoved: The responses are inconsistent, or `parent`, on which the range must build, is gone.
            RangeRefused: The endpoint refuses so many blocks at once.
        """
        blocks = [block for block in await self.blocks(marks(first, last, head)) if block is not None]
        if not blocks or blocks[-1].number != last:
            raise ChainMoved(last)
        logs = await self._logs_of_range(first, last, accounts)
        if parent is not None and await self.blocks([parent.number]) != [parent]:
            raise ChainMoved
        return await self._batch(blocks, logs)

    async def read_blocks(self, first: int, last: int, parent: IndexedBlock | None, accounts: Accounts) -> Batch:
        """Return the events in the few blocks `first` to `last` near the head, by eth_getLogs for each block's hash.

        Filtering by block numbers would be unsafe here: a node that lags behind silently omits the logs of blocks that
        it does not have yet. For an unknown block hash, a node must return an error (EIP-234). The hashes are read
        before the logs, and the parent hashes show that the blocks form one chain that continues from `parent`.

        Raises:
            ChainMoved: The blocks do not build on `parent` or on each other.
        """
        found = await self._headers(list(range(first, last + 1)))
        if None in found:
            raise ChainMoved(first + found.index(None))
        headers = [header for header in found if header is not None]
        below = [*([] if parent is None else [parent.hash]), *(header.block.hash for header in headers)]
        above = [header.parent_hash for header in headers[parent is None :]]
        if below[:-1] != above:
            raise ChainMoved
        blocks = [header.block for header in headers]
        return await self._batch(blocks, await self._logs_of_blocks(blocks, accounts))

    async def _batch(self, blocks: list[IndexedBlock], logs: list[Log]) -> Batch:
        known = _hashes(blocks, logs)
        events = await asyncio.to_thread(self._decoder.events, logs) if logs else []
        return Batch([IndexedBlock(number, known[number]) for number in sorted(known)], events)

    async def _headers(self, numbers: list[int]) -> list[_Header | None]:
        return list(await asyncio.gather(*(self._header(hex(number)) for number in numbers)))

    async def _header(self, which: str) -> _Header | None:
        answer = await self._rpc.call("eth_getBlockByNumber", [which, False])
        if answer is None:
            return None
        if not isinstance(answer, dict):
            raise RpcError("answer is not a block")
        number = values.count(answer.get("number"))
        if which != "latest" and number != int(which, 16):
            raise RpcError("answer is another block")
        return _Header(
            IndexedBlock(number, values.data(answer.get("hash"), 32)), values.data(answer.get("parentHash"), 32)
        )

    async def _logs_of_range(self, first: int, last: int, accounts: Accounts) -> list[Log]:
        block_filter = of_range(first, last)
        try:
            found = await self._logs.of_contracts(block_filter)
            return found + await self._logs.of_accounts([block_filter], found, accounts)
        except RpcError as error:
            # Endpoints refuse large ranges in many ways: with error codes, HTTP statuses, time-outs or closed
            # connections.
            if first < last:
                raise RangeRefused from error
            raise

    async def _logs_of_blocks(self, blocks: list[IndexedBlock], accounts: Accounts) -> list[Log]:
        filters = [of_block(block) for block in blocks]
        groups = await asyncio.gather(*(self._logs.of_contracts(block_filter) for block_filter in filters))
        found = [log for group in groups for log in group]
        return found + await self._logs.of_accounts(filters, found, accounts)


def _hashes(blocks: list[IndexedBlock], logs: list[Log]) -> dict[int, bytes]:
    """Return the hashes in `blocks` and `logs` by block number. Raises ChainMoved if a block has two hashes."""
    known = dict(blocks)
    for log in logs:
        if known.setdefault(log.block_number, log.block_hash) != log.block_hash:
            raise ChainMoved
    return known
