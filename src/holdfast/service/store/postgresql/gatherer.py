"""Gathers waiting requests into batches, so that one round trip and one disk flush serve many requests.

Batches form naturally: while the connections are busy, arriving requests wait for the next batch.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncpg

from holdfast.service.store.port import Overtaken, StoreUnavailable
from holdfast.service.store.postgresql.lane import NotSent
from holdfast.service.telemetry import metrics, tracing
from holdfast.wire.request_ids import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from holdfast.service.store.postgresql.lane import Lane

_log = logging.getLogger("holdfast.store")

WAIT_S = 1.0  # how long a request waits for a connection at most
MAX_BATCH = 256
_SWEEP_S = 0.1
LOST_RACE = "HF001"
_OVERTAKEN = "HF002"
_DEADLOCK = "40P01"


class LostRace(Exception):
    """Another transaction interfered, so nothing was written. The same request may be sent again."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind of request.

    Attributes:
        statement: the SQL statement, whose parameters are the arrays from `encode`.
        encode: returns the arrays for a batch.
        decode: returns a batch's results from the arguments and the returned rows; an exception among them is raised to
            its request.
        most: maximum number of requests in a batch.
        repeatable: whether a second call has no further effect, so that the request is sent once more
            if the response was lost.
    """

    name: str
    statement: str
    encode: Callable[[Sequence[Any]], Sequence[Any]]
    decode: Callable[[Sequence[Any], list[asyncpg.Record]], Sequence[Any]]
    most: int = MAX_BATCH
    repeatable: bool = False


class _Job:
    __slots__ = ("argument", "future", "keys", "request_id", "since", "trace")

    def __init__(self, argument: Any, keys: Sequence[Hashable], loop: asyncio.AbstractEventLoop) -> None:
        self.argument = argument
        self.keys = keys
        self.future: asyncio.Future[Any] = loop.create_future()
        self.since = loop.time()
        self.request_id = REQUEST_ID.get()
        self.trace = tracing.present()


class Gatherer:
    """Sends requests to the server in batches, each of one kind, over a few connections."""

    def __init__(self, lanes: Sequence[Lane], work: str = "write") -> None:
        """`work` is `read` or `write`, as in the metrics."""
        self._work = work
        self._lanes = lanes
        self._idle = list(lanes)
        self._queues: dict[Kind, deque[_Job]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._flushing = False
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def ask(self, kind: Kind, argument: Any, keys: Sequence[Hashable] = ()) -> Any:
        """Return the result of one request. Requests with a key in common are never sent in the same batch.

        Raises:
            StoreUnavailable: no response arrived in time; whether a write succeeded is unknown.
            LostRace: another transaction interfered.
        """
        if self._closed:
            raise StoreUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        job = _Job(argument, keys, loop)
        self._queues.setdefault(kind, deque()).append(job)
        if not self._flushing:
            self._flushing = True
            loop.call_soon(self._flush)
        return await job.future

    async def close(self) -> None:
        """Finish the accepted requests, then close the connections."""
        self._closed = True
        while self._running or any(self._queues.values()):
            await asyncio.sleep(0)
            if self._running:
                await asyncio.wait(self._running)
        if self._sweeping is not None:
            self._sweeping.cancel()
        for lane in self._lanes:
            await lane.close()

    def _flush(self) -> None:
        self._flushing = False
        while self._idle and (kind := self._longest_waiting()) is not None:
            batch = self._take(kind)
            serving = self._serve(self._idle.pop(), kind, batch)
            # The task gets an empty context, because the current context may be another request's.
            task = asyncio.get_running_loop().create_task(serving, context=contextvars.Context())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        if self._sweeping is None and any(self._queues.values()):
            self._sweeping = asyncio.get_running_loop().call_later(_SWEEP_S, self._sweep)

    def _longest_waiting(self) -> Kind | None:
        waiting = [(queue[0].since, kind) for kind, queue in self._queues.items() if queue]
        return min(waiting, key=lambda entry: entry[0])[1] if waiting else None

    def _take(self, kind: Kind) -> list[_Job]:
        queue = self._queues[kind]
        batch: list[_Job] = []
        left: list[_Job] = []
        keys: set[Hashable] = set()
        while queue and len(batch) < kind.most:
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
                _fail([queue.popleft()], NotSent("no connection to the database was free in time"))
        self._flush()

    async def _serve(self, lane: Lane, kind: Kind, batch: list[_Job]) -> None:
        began = time.perf_counter()
        attributes: tracing.Attributes = {"holdfast.batch_size": len(batch), "holdfast.batch_kind": kind.name}
        try:
            with tracing.batch(f"store {self._work}", (job.trace for job in batch), attributes):
                await _send(lane, kind, batch)
        except Exception as error:  # noqa: BLE001 - a failure here would leave requests waiting
            ids = ",".join(job.request_id for job in batch)
            _log.exception("batch failed", extra={"kind": kind.name, "request_id": ids})
            _fail(batch, StoreUnavailable(type(error).__name__))
        finally:
            self._count(batch, time.perf_counter() - began)
            self._idle.append(lane)
            self._flush()

    def _count(self, batch: list[_Job], seconds: float) -> None:
        metrics.BATCH_SIZE.observe(len(batch), self._work)
        metrics.BATCH_SECONDS.observe(seconds, self._work)
        now = asyncio.get_running_loop().time()
        for job in batch:
            metrics.STORE_SECONDS.observe(now - job.since, self._work)
            if not job.future.cancelled() and isinstance(job.future.exception(), StoreUnavailable):
                metrics.STORE_FAILURES.add(self._work)

    def look(self) -> None:
        """Set the gauges for waiting requests and for connections."""
        metrics.STORE_WAITING.set(sum(map(len, self._queues.values())), self._work)
        states = ["busy" if lane not in self._idle else "idle" if lane.is_open else "closed" for lane in self._lanes]
        for state in ("busy", "idle", "closed"):
            metrics.STORE_CONNECTIONS.set(states.count(state), self._work, state)


async def _send(lane: Lane, kind: Kind, batch: list[_Job]) -> None:
    """Send a batch; if the server refuses the batch, send each of its requests separately."""
    try:
        rows = await _fetch(lane, kind, [job.argument for job in batch])
    except StoreUnavailable as error:
        _fail(batch, error)
    except Exception as error:  # noqa: BLE001 - it goes to the request that brought it
        if len(batch) == 1:
            _fail(batch, _named(error))
        else:
            await _send_singly(lane, kind, batch)
    else:
        _settle(batch, kind.decode([job.argument for job in batch], rows))


async def _send_singly(lane: Lane, kind: Kind, batch: list[_Job]) -> None:
    for place, job in enumerate(batch):
        await _send(lane, kind, [job])
        if not job.future.cancelled() and isinstance(job.future.exception(), NotSent):
            _fail(batch[place + 1 :], NotSent("the database was lost"))
            return


def _settle(batch: list[_Job], results: Sequence[Any]) -> None:
    for job, result in zip(batch, results, strict=True):
        if job.future.done():  # its request was cancelled
            continue
        if isinstance(result, Exception):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)


async def _fetch(lane: Lane, kind: Kind, arguments: list[Any]) -> list[asyncpg.Record]:
    values = kind.encode(arguments)
    try:
        return await lane.fetch(kind.statement, values)
    except NotSent:
        raise
    except StoreUnavailable:
        if not kind.repeatable:
            raise
        return await lane.fetch(kind.statement, values)
    except asyncpg.DeadlockDetectedError:
        return await lane.fetch(kind.statement, values)


def _named(error: Exception) -> Exception:
    """Return the Store port's exception for an error from the server."""
    if isinstance(error, asyncpg.PostgresError):
        if error.sqlstate == LOST_RACE:
            return LostRace()
        if error.sqlstate == _OVERTAKEN:
            return Overtaken()
        if not isinstance(error, asyncpg.DataError):  # time limits, full disk, missing privileges: nothing was stored
            return StoreUnavailable(type(error).__name__)
    return error


def _fail(batch: Sequence[_Job], error: Exception) -> None:
    for job in batch:
        if not job.future.done():
            job.future.set_exception(error if len(batch) == 1 else type(error)(*error.args))
