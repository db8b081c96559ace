"""Reads from an endpoint the logs that the index needs (eth_getLogs; EIP-234 for the logs of one block)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.chain import values
from holdfast.chain.errors import AnswerTooLarge, RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.chain.values import Log
    from holdfast.indexer.events import Decoder
    from holdfast.indexer.rows import IndexedBlock

    Accounts = Callable[[], Awaitable[list[bytes]]]

log = logging.getLogger("holdfast.indexer")

# Endpoints limit the size of a filter; 500 addresses take about 23 KB.
ADDRESSES_AT_ONCE = 500


class Rpc(Protocol):
    """The JSON-RPC endpoint that the index follows, such as `holdfast.chain.rpc.RpcClient`."""

    async def call(self, method: str, params: list[object]) -> object:
        """Return the result of one JSON-RPC call. Raises RpcError for any other outcome."""
        ...


class BlockFilter(NamedTuple):
    """A set of blocks: the fields that select it in a log filter, a test for its logs, and whether it is one block."""

    criteria: dict[str, str]
    holds: Callable[[Log], bool]
    is_one: bool


def of_block(block: IndexedBlock) -> BlockFilter:
    """Select one block by its hash: a node that does not know the hash must return an error."""
    criteria = {"blockHash": "0x" + block.hash.hex()}
    return BlockFilter(criteria, lambda log: (log.block_number, log.block_hash) == block, is_one=True)


def of_range(first: int, last: int) -> BlockFilter:
    """Select the blocks `first` to `last` by their numbers."""
    numbers = {"fromBlock": hex(first), "toBlock": hex(last)}
    return BlockFilter(numbers, lambda log: first <= log.block_number <= last, is_one=first == last)


class LogReader:
    """Reads two kinds of logs: those of the registry and the factory, and those that accounts emit.

    The contracts' logs are selected by address, and are read first. Those of accounts are selected by topic only, since
    a filter that listed all accounts would exceed every endpoint's limit; other contracts' logs with these topics are
    dropped when the rows are computed. Some endpoints refuse a filter without addresses, and anyone can emit so many
    such logs that the response is too large. If such a filter fails, the accounts are selected by address, in groups.
    Every method raises RpcError.

    If the response for one block, or for a batch of single blocks, is too large, `roomy` requests the logs again, one
    block at a time: the index can only continue after it has read every log of a block.
    """

    def __init__(self, rpc: Rpc, decoder: Decoder, roomy: Rpc | None = None) -> None:
        self._rpc = rpc
        self._roomy = roomy
        self._one_at_a_time = asyncio.Lock()
        self._decoder = decoder
        self._contracts = {"address": _hex(decoder.addresses), "topics": [_hex(decoder.topics)]}
        self._any_account = {"topics": [_hex(decoder.account_topics)]}
        self._refusal_logged = False

    async def of_contracts(self, block_filter: BlockFilter) -> list[Log]:
        """Return the logs of the registry and the factory."""
        return await self._ask(self._contracts, block_filter)

    async def of_accounts(self, filters: Sequence[BlockFilter], logs: list[Log], accounts: Accounts) -> list[Log]:
        """Return all known accounts' logs in the blocks `filters`; those of other contracts may be included.

        Args:
            filters: The blocks.
            logs: The result of `of_contracts` for all of them, with the accounts created there.
            accounts: Returns the accounts of earlier blocks. Called only if a filter without addresses is refused.
        """
        answers = await asyncio.gather(*(self._of_any_account(block_filter) for block_filter in filters))
        found = [each for answer in answers if answer is not None for each in answer]
        refused = [block_filter for block_filter, answer in zip(filters, answers, strict=True) if answer is None]
        if refused:
            known = [*await accounts(), *self._decoder.created(logs)]
            self._tell_refusal(len(known))
            for block_filter in refused:
                found += await self._of_known(block_filter, known)
        return found

    async def _of_any_account(self, block_filter: BlockFilter) -> list[Log] | None:
        """Return any contract's logs with accounts' topics; None if the endpoint refuses in whatever form."""
        try:
            return await self._decoded(await self._answer(self._rpc, self._any_account, block_filter), block_filter)
        except RpcError:
            return None

    async def _of_known(self, block_filter: BlockFilter, known: list[bytes]) -> list[Log]:
        found: list[Log] = []
        for start in range(0, len(known), ADDRESSES_AT_ONCE):
            group = _hex(known[start : start + ADDRESSES_AT_ONCE])
            found += await self._ask({"address": group, **self._any_account}, block_filter)
        return found

    def _tell_refusal(self, accounts: int) -> None:
        if not self._refusal_logged:
            self._refusal_logged = True
            log.info("indexer: the endpoint gives no logs without addresses: asking for %d accounts' own", accounts)

    async def _ask(self, wanted: dict[str, Any], block_filter: BlockFilter) -> list[Log]:
        try:
            return await self._decoded(await self._answer(self._rpc, wanted, block_filter), block_filter)
        except AnswerTooLarge:
            if self._roomy is None or not block_filter.is_one:
                raise
        async with self._one_at_a_time:  # so that only one large response is in memory
            return await self._decoded(await self._answer(self._roomy, wanted, block_filter), block_filter)

    async def _answer(self, rpc: Rpc, wanted: dict[str, Any], block_filter: BlockFilter) -> Any:
        return await rpc.call("eth_getLogs", [{**wanted, **block_filter.criteria}])

    async def _decoded(self, answer: Any, block_filter: BlockFilter) -> list[Log]:
        # Decoding thousands of logs on the event loop would delay requests; most blocks have no logs and need no
        # thread.
        return [] if answer == [] else await asyncio.to_thread(_logs_of, answer, block_filter)


def _logs_of(answer: Any, block_filter: BlockFilter) -> list[Log]:
    found = values.logs(answer)
    if not all(map(block_filter.holds, found)):
        raise RpcError("answer has logs of other blocks")
    return found


def _hex(all_bytes: Sequence[bytes]) -> list[str]:
    return ["0x" + each.hex() for each in all_bytes]
