"""Gathers waiting requests into batches, so that one round trip and one disk flush serve many requests.

Batches form naturally: while the connections are busy, arriving requests wait for the next batch. Clients whose
responses arrive together ask again together, so the whole load would tend to become one batch. So waiting requests
are divided among the idle connections, and the server works on one part of them while this process works on the
responses of another. A share has at least 16 requests, because each batch costs a commit.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batches import Job, LostRace, fail, send
from holdfast.service.store.postgresql.connection import NotSent
from holdfast.service.store.postgresql.servers import database_words
from holdfast.service.store.postgresql.tries import Tries, crowded
from holdfast.service.telemetry import metrics, tracing

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from holdfast.service.store.postgresql.batches import Argument, Kind, Result
    from holdfast.service.store.postgresql.connection import StoreConnection

_log = logging.getLogger("holdfast.store")

WAIT_S = 1.0  # how long a request waits for a connection at most
UNDIVIDED = 16  # so many requests share a batch even if several connections are idle, because a batch costs a commit
_SWEEP_S = 0.1


class Batcher:
    """Sends requests to the server in batches, each of one kind, over a few connections."""

    def __init__(self, connections: Sequence[StoreConnection], work: str = "write") -> None:
        """`work` is `read` or `write`, as in the metrics."""
        self._work = work
        self._timed = metrics.enabled()
        self._connections = connections
        self._idle = list(connections)
        self._queues: dict[Kind[Any, Any], deque[Job]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._flushing = False
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def ask(self, kind: Kind[Argument, Result], argument: Argument, keys: Sequence[Hashable] = ()) -> Result:
        """Return the result of one request. Requests with a key in common are never sent in the same batch.

        Raises:
            StoreUnavailable: no response arrived in time; whether a write succeeded is unknown.
            LostRace: another transaction interfered.
        """
        if self._closed:
            raise StoreUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        job = Job(argument, keys, loop)
        self._queues.setdefault(kind, deque()).append(job)
        if not self._flushing:
            self._flushing = True
            loop.call_soon(self._flush)
        result: Result = await job.future
        return result

    async def insist(self, kind: Kind[Argument, Result], argument: Argument, keys: Sequence[Hashable] = ()) -> Result:
        """Return the result of a write, which is sent again while other transactions interfere."""
        for _ in Tries():
            try:
                return await self.ask(kind, argument, keys)
            except LostRace:
                continue
        raise crowded()

    async def in_parts(self, kind: Kind[Sequence[object], int], values: Sequence[object]) -> int:
        """Repeat a write that changes a limited number of rows until it changes none; return how many it changed."""
        changed = 0
        while part := await self.insist(kind, values):
            changed += part
        return changed

    async def close(self) -> None:
        """Finish the accepted requests, then close the connections."""
        self._closed = True
        while self._running or any(self._queues.values()):
            await asyncio.sleep(0)
            if self._running:
                await asyncio.wait(self._running)
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in self._connections:
            await connection.close()

    def _flush(self) -> None:
        self._flushing = False
        while self._idle and (kind := self._longest_waiting()) is not None:
            batch = self._take(kind, self._share(kind))
            serving = self._serve(self._idle.pop(), kind, batch)
            # The task gets an empty context, because the current context may be another request's.
            task = asyncio.get_running_loop().create_task(serving, context=contextvars.Context())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        if self._sweeping is None and any(self._queues.values()):
            self._sweeping = asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    def _longest_waiting(self) -> Kind[Any, Any] | None:
        waiting = [(queue[0].since, kind) for kind, queue in self._queues.items() if queue]
        return min(waiting, key=lambda entry: entry[0])[1] if waiting else None

    def _share(self, kind: Kind[Any, Any]) -> int:
        """Return how many waiting requests the next batch takes; each other kind that waits needs a connection."""
        others = sum(1 for other, queue in self._queues.items() if queue and other is not kind)
        connections = max(1, len(self._idle) - others)
        return min(kind.most, max(UNDIVIDED, math.ceil(len(self._queues[kind]) / connections)))

    def _take(self, kind: Kind[Any, Any], most: int) -> list[Job]:
        queue = self._queues[kind]
        batch: list[Job] = []
        left: list[Job] = []
        keys: set[Hashable] = set()
        while queue and len(batch) < most:
            job = queue.popleft()
            if keys.isdisjoint(job.keys):
                keys.update(job.keys)
                batch.append(job)
            else:
                left.append(job)
        queue.extendleft(reversed(left))
        return batch

    def _sweep(self) -> None:
        """Fail requests that have waited too long: all connections may be waiting for a silent server."""
        self._sweeping = None
        late = asyncio.get_running_loop().time() - WAIT_S
        for queue in self._queues.values():
            while queue and queue[0].since < late:
                metrics.STORE_FAILURES.add(self._work)
                fail([queue.popleft()], NotSent("no connection to the database was free in time"))
        self._flush()

    async def _serve(self, connection: StoreConnection, kind: Kind[Any, Any], batch: list[Job]) -> None:
        began = time.perf_counter()
        attributes: tracing.Attributes = {"holdfast.batch_size": len(batch), "holdfast.batch_kind": kind.name}
        try:
            with tracing.batch(f"store {self._work}", (job.trace for job in batch), attributes):
                await send(connection, kind, batch)
        except Exception as error:  # noqa: BLE001 - a failure here would leave requests waiting
            ids = ",".join(job.request_id for job in batch)
            _log.exception("batch failed", extra={"kind": kind.name, "request_id": ids})
            fail(batch, StoreUnavailable(database_words(error)))
        finally:
            if self._timed:
                self._count(batch, time.perf_counter() - began)
            self._idle.append(connection)
            self._flush()

    def _count(self, batch: list[Job], seconds: float) -> None:
        metrics.BATCH_SIZE.observe(len(batch), self._work)
        metrics.BATCH_SECONDS.observe(seconds, self._work)
        now = asyncio.get_running_loop().time()
        for job in batch:
            metrics.STORE_SECONDS.observe(now - job.since, self._work)
            if not job.future.cancelled() and isinstance(job.future.exception(), StoreUnavailable):
                metrics.STORE_FAILURES.add(self._work)

    def update_gauges(self) -> None:
        """Set the gauges for waiting requests and for connections."""
        metrics.STORE_WAITING.set(sum(map(len, self._queues.values())), self._work)
        states = [
            "busy" if connection not in self._idle else "idle" if connection.is_open else "closed"
            for connection in self._connections
        ]
        for state in ("busy", "idle", "closed"):
            metrics.STORE_CONNECTIONS.set(states.count(state), self._work, state)
