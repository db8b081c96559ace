"""Where accounts whose recovery started or ended are found: in the indexer's events, or in a chain's own logs.

Both only say where to look; what counts is read from the account.
"""

from __future__ import annotations

import logging
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
_PAGES, _ROWS = 10, 200
_RANGES = 10  # requests for logs in one run
_LOOK_BACK = 50_000  # blocks that are looked through after a start: more than a day on Base
_OVERLAP = 64  # blocks that are looked through again, because a reorganisation may change them
_FINISHED = keccak256(b"RecoveryFinished(uint32)")


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
        started = await self._accounts("RecoveryStarted", first)
        return Found(started, await self._accounts("RecoveryFinished", first), max(0, last - _OVERLAP))

    async def _accounts(self, kind: str, since: int) -> list[bytes]:
        found: dict[bytes, None] = {}
        cursor = ""
        for _ in range(_PAGES):
            page = await self._read("/api/events", f"kind={kind}&from_block={since}&limit={_ROWS}{cursor}", _Page)
            found |= dict.fromkeys(bytes.fromhex(event.account_address[2:]) for event in page.events[:_ROWS])
            if page.next_cursor is None or not page.next_cursor.isalnum():
                break
            cursor = f"&cursor={page.next_cursor}"
        return [account for account in found if len(account) == 20]  # noqa: PLR2004 - an address

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

    async def since(self, block: int | None) -> Found:
        """See RecoveryEvents. It may end before the newest block, and goes on there."""
        last = await self._chain.client.block_number()
        first, logs = _first(block, last), list[values.Log]()
        for _ in range(_RANGES):
            end = min(first + self._size.value - 1, last)
            try:
                found = await self._logs(first, end)
            except RpcError:
                if first == end:
                    raise
                self._size.refused(end - first + 1)
                continue
            self._size.granted(end - first + 1, len(found))
            logs, first = logs + found, end + 1
            if end == last:
                break
        emitted = {topic: _accounts(logs, topic) for topic in (RECOVERY_STARTED, _FINISHED)}
        return Found(emitted[RECOVERY_STARTED], emitted[_FINISHED], min(first, max(0, last - _OVERLAP)))

    async def _logs(self, first: int, end: int) -> list[values.Log]:
        topics = [[to_hex(RECOVERY_STARTED), to_hex(_FINISHED)]]
        wanted = {"topics": topics, "fromBlock": hex(first), "toBlock": hex(end)}
        try:
            return values.logs(await self._chain.client.call("eth_getLogs", [wanted]))
        except AnswerTooLarge:
            if first < end:
                raise
            _log.warning("recoveries of a block not looked for", extra={"block": first})  # filled by strangers
            return []


def _first(block: int | None, last: int) -> int:
    return max(0, last - _LOOK_BACK) if block is None else min(block, last)


def _accounts(logs: list[values.Log], topic: bytes) -> list[bytes]:
    return list(dict.fromkeys(log.address for log in logs if log.topics[:1] == (topic,)))
