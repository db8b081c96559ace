"""Asks an endpoint for the logs that an index is made of (eth_getLogs, EIP-234 for those of one block)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from holdfast.chain import values
from holdfast.chain.errors import RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.chain.values import Log
    from holdfast.indexer.events import Decoder
    from holdfast.indexer.rows import IndexedBlock

    Accounts = Callable[[], Awaitable[list[bytes]]]

log = logging.getLogger("holdfast.indexer")

# Endpoints bound the size of a filter; this many addresses are some 23 KB.
_ADDRESSES_AT_ONCE = 500


class Rpc(Protocol):
    """The JSON-RPC endpoint that the index follows; `holdfast.chain.rpc.RpcClient` is one."""

    async def call(self, method: str, params: list[Any]) -> Any:
        """The result of one call. Raises RpcError for every other outcome."""
        ...


class BlockFilter(NamedTuple):
    """Some blocks: how a filter names them, and whether a log is of one of them."""

    criteria: dict[str, str]
    holds: Callable[[Log], bool]


def of_block(block: IndexedBlock) -> BlockFilter:
    """The place of one block, by its hash: a node that does not know it must fail."""
    return BlockFilter({"blockHash": "0x" + block.hash.hex()}, lambda log: (log.block_number, log.block_hash) == block)


def of_range(first: int, last: int) -> BlockFilter:
    """The place of the blocks `first` to `last`, by their numbers."""
    return BlockFilter({"fromBlock": hex(first), "toBlock": hex(last)}, lambda log: first <= log.block_number <= last)


class LogReader:
    """The two kinds of logs: those of our contracts, and the key changes that accounts emit themselves.

    The contracts come first and by their addresses. Key changes come by their topic alone, since a filter with every
    account would outgrow every endpoint; other contracts' logs that look the same are left out where rows are made.
    Some endpoints refuse a filter without addresses, and anyone may fill blocks with such logs until the answer is too
    large. Then the accounts are asked for by address, a group at a time. Every method raises RpcError.
    """

    def __init__(self, rpc: Rpc, decoder: Decoder) -> None:
        self._rpc = rpc
        self._decoder = decoder
        self._contracts = {"address": _hex(decoder.addresses), "topics": [_hex(decoder.topics)]}
        self._any_account = {"topics": [_hex(decoder.account_topics)]}
        self._refusal_told = False

    async def of_contracts(self, place: BlockFilter) -> list[Log]:
        """The logs of the registry and the factory."""
        return await self._ask(self._contracts, place)

    async def of_accounts(self, places: Sequence[BlockFilter], logs: list[Log], accounts: Accounts) -> list[Log]:
        """The key changes at `places`: of every known account, and of other contracts where that is cheaper.

        Args:
            places: Where.
            logs: What `of_contracts` answered for all of them: the accounts created there.
            accounts: The accounts created before; asked only where the endpoint refuses a filter without addresses.
        """
        answers = await asyncio.gather(*(self._of_any_account(place) for place in places))
        found = [each for answer in answers if answer is not None for each in answer]
        refused = [place for place, answer in zip(places, answers, strict=True) if answer is None]
        if refused:
            known = [*await accounts(), *self._decoder.created(logs)]
            self._tell_refusal(len(known))
            for place in refused:
                found += await self._of_known(place, known)
        return found

    async def _of_any_account(self, place: BlockFilter) -> list[Log] | None:
        """None where the endpoint refuses, in whichever of the many ways there are."""
        try:
            return await self._ask(self._any_account, place)
        except RpcError:
            return None

    async def _of_known(self, place: BlockFilter, known: list[bytes]) -> list[Log]:
        found: list[Log] = []
        for start in range(0, len(known), _ADDRESSES_AT_ONCE):
            group = _hex(known[start : start + _ADDRESSES_AT_ONCE])
            found += await self._ask({"address": group, **self._any_account}, place)
        return found

    def _tell_refusal(self, accounts: int) -> None:
        if not self._refusal_told:
            self._refusal_told = True
            log.info("indexer: the endpoint gives no logs without addresses: asking for %d accounts' own", accounts)

    async def _ask(self, wanted: dict[str, Any], place: BlockFilter) -> list[Log]:
        answer = await self._rpc.call("eth_getLogs", [{**wanted, **place.criteria}])
        # Thousands of logs take long enough to be felt by requests on the same loop; most blocks have none.
        return [] if answer == [] else await asyncio.to_thread(_logs_of, answer, place)


def _logs_of(answer: Any, place: BlockFilter) -> list[Log]:
    found = values.logs(answer)
    if not all(map(place.holds, found)):
        raise RpcError("answer has logs of other blocks")
    return found


def _hex(all_bytes: Sequence[bytes]) -> list[str]:
    return ["0x" + each.hex() for each in all_bytes]
