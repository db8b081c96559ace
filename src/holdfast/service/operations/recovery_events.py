"""Where accounts whose recovery started or ended are found: in the indexer's events, or in a chain's own logs.

Both only say where to look; what counts is read from the account.
"""

from __future__ import annotations

import logging
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec

from holdfast.chain import values
from holdfast.chain.account_reads import RECOVERY_STARTED
from holdfast.chain.errors import AnswerTooLarge, RpcError
from holdfast.chain.range_size import RangeSize
from holdfast.service.upstreams.proxy import UpstreamError
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from holdfast.service.upstreams.chain_rpc import ChainReader
    from holdfast.service.upstreams.indexer import Indexer

T = TypeVar("T")
_log = logging.getLogger("holdfast.recoveries")
PAGES, _ROWS = 300, 200  # no block has gas for as many events of the accounts that the indexer lists
_CURSOR = re.compile(r"[A-Za-z0-9_-]+")  # base64url
_RANGES = 10  # requests for logs in one run
_LOOK_BACK = 50_000  # blocks that are looked through after a start: more than a day on Base
_MOST_EMITTERS = 50_000  # accounts and events of one block: each account is a contract, whose creation takes gas
_OVERLAP = 64  # blocks that are looked through again, because a reorganisation may change them
_FINISHED = keccak256(b"RecoveryFinished(uint32)")
_UNKNOWN_METHOD = -32601  # JSON-RPC 2.0: without logs, each block of the chain would be read by transaction
_TOPICS = (RECOVERY_STARTED, _FINISHED)


class Found(NamedTuple):
    """Accounts, each once, and the block from which the next search begins if these were dealt with."""

    started: list[bytes]
    finished: list[bytes]
    next_block: int


class RecoveryEvents(Protocol):
    """Where events are looked for."""

    async def since(self, block: int | None) -> Found:
        """Return accounts with events since a block, or the last 50,000 blocks.

        Raises UpstreamError, RpcError, ValueError.
        """
        ...


class _Event(msgspec.Struct):
    account_address: str
    block_number: str = "0"


class _Page(msgspec.Struct):
    events: list[_Event]
    next_cursor: str | None = None


class _Stats(msgspec.Struct):
    last_block_number: int


class IndexedEvents:
    """The events that the indexer shows, of its chain."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    async def since(self, block: int | None) -> Found:
        """See RecoveryEvents."""
        last = max(0, (await self._read("/api/stats", "", _Stats)).last_block_number)
        first = _first(block, last)
        started, seen = await self._accounts("RecoveryStarted", first)
        finished, also_seen = await self._accounts("RecoveryFinished", first)
        return Found(started, finished, min(seen, also_seen, max(0, last - _OVERLAP)))

    async def _accounts(self, kind: str, since: int) -> tuple[list[bytes], int]:
        """Return accounts, and the block where the rest of their events begins: strangers may have made more."""
        found: dict[bytes, None] = {}
        cursor, seen = "", since + 1
        for _ in range(PAGES):
            page = await self._read("/api/events", f"kind={kind}&from_block={since}&limit={_ROWS}{cursor}", _Page)
            found |= dict.fromkeys(bytes.fromhex(event.account_address[2:]) for event in page.events[:_ROWS])
            if page.next_cursor is None or len(page.events) < _ROWS:
                seen = sys.maxsize
                break
            if not _CURSOR.fullmatch(page.next_cursor):
                raise ValueError("not a cursor")
            cursor = f"&cursor={page.next_cursor}"
            seen = max([seen, *(int(event.block_number) for event in page.events[-1:])])
        return [account for account in found if len(account) == 20], seen  # noqa: PLR2004 - an address

    async def _read(self, path: str, query: str, kind: type[T]) -> T:
        answer = await self._indexer.get(path, query, {})
        if answer.status != 200:  # noqa: PLR2004 - HTTP
            raise UpstreamError(f"the indexer answers with status {answer.status}")
        return msgspec.json.decode(answer.body, type=kind)


class LoggedEvents:
    """The logs of a chain that no indexer follows. Any contract can emit them."""

    def __init__(self, chain: ChainReader) -> None:
        self._chain = chain
        self._size = RangeSize()
        self._filled: dict[bytes, list[values.Log]] = {}

    async def since(self, block: int | None) -> Found:
        """See RecoveryEvents. It may end before the newest block, and goes on there."""
        last = await self._chain.client.block_number()
        first, logs = _first(block, last), list[values.Log]()
        for _ in range(_RANGES):
            end = min(first + self._size.value - 1, last)
            try:
                found = await self._logs(first, end)
            except RpcError as error:
                if error.code == _UNKNOWN_METHOD:
                    raise
                if first < end:
                    self._size.refused(end - first + 1)
                    continue
                found = await self._by_transaction(first)
                self._size = RangeSize()  # the block was too large, not the range
            self._size.granted(end - first + 1, len(found))
            logs, first = logs + found, end + 1
            if end == last:
                break
        emitted = {topic: _accounts(logs, topic) for topic in _TOPICS}
        return Found(emitted[RECOVERY_STARTED], emitted[_FINISHED], min(first, max(0, last - _OVERLAP)))

    async def _logs(self, first: int, end: int) -> list[values.Log]:
        wanted = {"topics": [[*map(to_hex, _TOPICS)]], "fromBlock": hex(first), "toBlock": hex(end)}
        return values.logs(await self._chain.client.call("eth_getLogs", [wanted]))

    async def _by_transaction(self, number: int) -> list[values.Log]:
        """Return the logs of a block that strangers filled, so that the endpoint does not give them together."""
        block = await self._chain.client.call("eth_getBlockByNumber", [hex(number), False])
        name, sent = values.data(values.field(block, "hash")), values.field(block, "transactions")
        if not isinstance(sent, list):
            raise RpcError("answer is not a block with transactions")
        if name not in self._filled:
            if len(self._filled) > _OVERLAP:
                self._filled.clear()
            self._filled[name] = await self._of_transactions(name, sent)
        return self._filled[name]

    async def _of_transactions(self, block: bytes, sent: list[object]) -> list[values.Log]:
        """Return one log for each account and event: the gas that a block has limits their number, a lie does not."""
        found: dict[tuple[bytes, bytes], values.Log] = {}
        for each in sent:
            logs = await self._of_transaction(block, to_hex(values.data(each)))
            found |= {(log.address, log.topics[0]): replace(log, data=b"") for log in logs}
            if len(found) > _MOST_EMITTERS:
                raise RpcError("answer has more events than a block")
        return [*found.values()]

    async def _of_transaction(self, block: bytes, sent: str) -> list[values.Log]:
        """Return a transaction's logs. On most chains, the gas that it may use limits them far below a response."""
        try:
            receipt = await self._chain.client.get_transaction_receipt(sent)
        except AnswerTooLarge:
            _log.warning("recoveries of a transaction not looked for", extra={"block": to_hex(block)})
            return []
        if receipt is None or receipt.block_hash != block:
            raise RpcError("answer is not the receipt of a block's transaction")
        return [log for log in receipt.logs if log.topics and log.topics[0] in _TOPICS]


def _first(block: int | None, last: int) -> int:
    return max(0, last - _LOOK_BACK) if block is None else min(block, last)


def _accounts(logs: list[values.Log], topic: bytes) -> list[bytes]:
    return list(dict.fromkeys(log.address for log in logs if log.topics[:1] == (topic,)))
