"""Keeps an index up to date with its chain, despite reorganisations, restarts and failing endpoints."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.chain.range_size import RangeSize
from holdfast.indexer.forks import blocks_of, is_prefix, newest_common
from holdfast.indexer.progress import CatchUpLog, FollowProgress, Health
from holdfast.indexer.ranges import undo_floor
from holdfast.indexer.reader import ChainMoved, RangeRefused
from holdfast.indexer.store import StoreError, TipMoved

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.indexer.reader import Batch, RangeReader
    from holdfast.indexer.rows import IndexedBlock
    from holdfast.indexer.sqlite_store import SqliteIndexStore

log = logging.getLogger("holdfast.indexer")


@dataclass(frozen=True, kw_only=True)
class FollowOptions:
    """How to follow a chain. Times are in seconds; `start_block` is a block number."""

    chain_id: int
    start_block: int = 0
    journal_blocks: int = 1024
    # The newest blocks are read one by one, by hash, because nodes behind a load balancer disagree about them.
    near_blocks: int = 64
    poll_s: float = 2.0
    # How long the endpoint's chain may be shorter than the index before the index is rewound: a node behind a load
    # balancer may lag.
    behind_patience_s: float = 30.0
    backoff_first_s: float = 0.25
    backoff_most_s: float = 30.0
    # The index is unhealthy if it last agreed with the chain more than `stale_s` ago, or lags by more than
    # `lag_blocks`.
    stale_s: float = 60.0
    lag_blocks: int = 32


class Step(Enum):
    """What one step of the follower achieved."""

    CURRENT = "the index holds the chain's newest block"
    MORE = "there is more to do at once"
    BACK = "the index went back to a block that the chain still has, or to its start"
    BEHIND = "the endpoint's chain is a shorter part of the indexed one"


class WrongChain(Exception):
    """The endpoint serves a chain other than the index's."""


class Follower:
    """Brings one index up to date with its chain, step by step. `run` repeats the steps until cancelled."""

    def __init__(
        self,
        reader: RangeReader,
        store: SqliteIndexStore,
        options: FollowOptions,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self._reader = reader
        self._store = store
        self._options = options
        self._clock = clock
        self._jitter = jitter
        self._size = RangeSize()
        self._behind_since: float | None = None
        self._chain_checked = False
        self._retreats = 0
        self._catch_up = CatchUpLog()
        self.health = Health()

    async def run(self) -> None:
        """Follow the chain until cancelled. Only the leading process writes; if it ends, another one takes over."""
        while True:  # noqa: ASYNC110 - it waits for a chain, not for something in this process
            await asyncio.sleep(await self.pause_after_step())

    async def pause_after_step(self) -> float:
        """Take one step, and return the number of seconds until the next step."""
        try:
            step = await self.step() if await self._store.lead() else await self.watch()
        except RpcError as error:
            return self._failed(error.in_our_words)
        except (StoreError, WrongChain, ChainMoved, TipMoved) as error:
            return self._failed(str(error))
        except Exception:  # a defect must be logged, and must not stop the follower
            log.exception("indexer: step failed")
            return self._failed("a defect")
        self.health.failures = 0
        return self._pause_after(step)

    def _pause_after(self, step: Step) -> float:
        """Return the pause in seconds: 0 if more blocks can be read, longer while nodes disagree about the chain."""
        if step is Step.BACK:
            self._retreats += 1
            return 0.0 if self._retreats == 1 else self._backoff(self._retreats - 1)
        if step is Step.MORE:
            return 0.0
        self._retreats = 0
        return self._options.poll_s

    def _failed(self, why: str) -> float:
        self.health.failures += 1
        # Log only failures 1, 2, 4, 8 …, so that an outage lasting hours does not fill the log.
        if self.health.failures & (self.health.failures - 1) == 0:
            log.warning("indexer: step failed (%s), failure %d", why, self.health.failures)
        return self._backoff(self.health.failures)

    def _backoff(self, times: int) -> float:
        pause = self._options.backoff_first_s * 2.0 ** min(times - 1, 16)
        return min(pause, self._options.backoff_most_s) * self._jitter()

    async def step(self) -> Step:
        """Index new blocks or undo replaced ones. Raises RpcError, StoreError, WrongChain, ChainMoved, TipMoved."""
        await self._check_chain()
        head = await self._reader.head()
        tip = await self._store.tip()
        if tip is not None and not await self._stands(tip, head):
            return await self._retreat(tip, head)
        self._behind_since = None
        return await self._advance(tip, head)

    async def watch(self) -> Step:
        """Compare the index with the chain while another process is writing the index."""
        await self._check_chain()
        head = await self._reader.head()
        tip = await self._store.tip()
        if tip is not None and await self._stands(tip, head):
            self._agree(tip.number, head.number)
        return Step.CURRENT

    def healthy(self) -> bool:
        """Return whether the index recently agreed with the chain and is near its head."""
        agreed_at, lag = self.health.agreed_at, self.health.lag
        if agreed_at is None or lag is None:
            return False
        return lag <= self._options.lag_blocks and self._clock() - agreed_at <= self._options.stale_s

    def progress(self) -> FollowProgress:
        """Return the progress of the index."""
        health = self.health
        ago = None if health.agreed_at is None else self._clock() - health.agreed_at
        return FollowProgress(health.tip, health.head, health.lag, ago, health.failures)

    def _agree(self, tip: int | None, head: int) -> None:
        now = self._clock()
        self.health.agreed_at, self.health.tip, self.health.head = now, tip, head
        if tip is not None and (line := self._catch_up.line(now, tip, head)):
            log.info("indexer: %s", line)

    async def _check_chain(self) -> None:
        """Check the endpoint's chain ID: an endpoint for a different chain must not make this index delete its rows."""
        if self._chain_checked:
            return
        found = await self._reader.chain_id()
        if found != self._options.chain_id:
            raise WrongChain(f"the endpoint serves chain {found}, not {self._options.chain_id}")
        self._chain_checked = True

    async def _stands(self, tip: IndexedBlock, head: IndexedBlock) -> bool:
        if tip.number > head.number:
            return False
        return tip == head or (await blocks_of(self._reader, [tip.number]))[0] == tip

    async def _advance(self, tip: IndexedBlock | None, head: IndexedBlock) -> Step:
        first = self._options.start_block if tip is None else tip.number + 1
        if first > head.number:
            self._agree(None if tip is None else tip.number, head.number)
            return Step.CURRENT
        batch = await self._read(first, head.number, tip)
        if batch is None:
            return Step.MORE
        last = batch.last.number
        await self._store.apply(tip, batch, undo_floor(last, head.number, self._options.journal_blocks))
        self._agree(last, head.number)
        return Step.CURRENT if last == head.number else Step.MORE

    async def _read(self, first: int, head: int, tip: IndexedBlock | None) -> Batch | None:
        """Return the next blocks, read one by one near the head, else as a range; None if the range was refused."""
        near = head - self._options.near_blocks
        if first > near:
            last = min(head, first + self._options.near_blocks - 1)
            return await self._reader.read_blocks(first, last, tip, self._store.account_addresses)
        last = min(near, first + self._size.value - 1)
        try:
            batch = await self._reader.read_range(first, last, head, tip, self._store.account_addresses)
        except RangeRefused:
            self._size.refused(last - first + 1)
            return None
        self._size.granted(last - first + 1, len(batch.events))
        return batch

    async def _retreat(self, tip: IndexedBlock, head: IndexedBlock) -> Step:
        """Go back to the newest stored block that the chain still has; if none exists, rebuild the index."""
        self._chain_checked = False  # another endpoint may have taken the address
        await self._check_chain()
        stored = await self._store.blocks()
        fork = await newest_common(self._reader, stored, head)
        if fork is not None and is_prefix(fork, stored, head) and self._waits_for_chain():
            return Step.BEHIND
        self._behind_since = None
        if fork is None:
            log.warning("indexer: the chain has none of the kept blocks: building the index afresh")
            await self._store.reset()
        else:
            log.info("indexer: reorganisation: going back %d blocks to block %d", tip.number - fork.number, fork.number)
            await self._store.rewind(tip, fork)
        return Step.BACK

    def _waits_for_chain(self) -> bool:
        now = self._clock()
        if self._behind_since is None:
            self._behind_since = now
        return now - self._behind_since < self._options.behind_patience_s
