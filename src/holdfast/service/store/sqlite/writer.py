"""Group commit: one thread writes all waiting jobs in one transaction.

A durable commit costs one disk flush, however many writes it contains. The more registrations arrive together, the more
are stored per second (measured: 6 times the rate of single transactions, and 22 times if a flush takes 1 ms). While
there are also reads, the next commit waits a few milliseconds for more writes, which leaves CPU time for reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from queue import Empty, SimpleQueue
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics, tracing
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
_log = logging.getLogger("holdfast.store")
MAX_BATCH = 512
PACE_S = 0.005
ANSWER_S = 10.0  # how long a request waits for its commit; a disk that stalls would otherwise keep it for as long
# Errors such as a full disk or a damaged file: the whole transaction is in doubt, not only the write that failed.
_IN_DOUBT = (sqlite3.OperationalError, sqlite3.InternalError, sqlite3.DatabaseError)


class _Job:
    """One write, the future that waits for it, and its outcome."""

    __slots__ = ("arguments", "error", "future", "given_up", "loop", "result", "since", "trace", "work")

    def __init__(self, work: Any, arguments: tuple[Any, ...], loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.arguments = arguments
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.given_up = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.since = perf_counter()
        self.trace = tracing.present()

    def give_up(self) -> None:
        """Fail the request that waits. If the write has not begun, it never does."""
        self.given_up = True
        if not self.future.done():
            metrics.STORE_FAILURES.add("write")
            self.future.set_exception(StoreUnavailable(f"no commit within {ANSWER_S:.0f} s: the disk stalls"))


class _HalfWritten(Exception):
    """A job failed after it had written something, so its batch is repeated with a savepoint for each job."""


class GroupCommitWriter:
    """Runs writes on one thread; each write waits for the commit that contains it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        verify: Callable[[], None],
        reads: Callable[[], int] = lambda: 0,
        committed: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a writer and start its thread.

        Args:
            connection: used only by that thread.
            verify: called around each commit; raises StoreUnavailable if the file is no longer the one that was opened.
            reads: returns the number of reads by other threads; while it grows, commits are paced.
            committed: called on the thread after each commit, before its requests continue.
        """
        self._connection = connection
        self._verify = verify
        self._reads = reads
        self._committed = committed
        self._timed = metrics.enabled()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="holdfast-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[sqlite3.Connection, *Arguments], T], *arguments: *Arguments) -> T:
        """Return what `work` returns, once its writes are on disk.

        If `work` raises an exception, nothing is stored, and the exception is raised.

        Raises:
            StoreUnavailable: the transaction could not begin or commit, or did not within `ANSWER_S`; in the latter
                case the write may still be stored.
        """
        if self._closed:
            raise StoreUnavailable("the store is closed")
        loop = asyncio.get_running_loop()
        job = _Job(work, arguments, loop)
        self._jobs.put(job)
        limit = loop.call_later(ANSWER_S, job.give_up)
        try:
            result: T = await job.future
        finally:
            limit.cancel()
        return result

    async def close(self) -> None:
        """Finish accepted writes, then end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch, last = self._gather(job)
            batch = [job for job in batch if not job.given_up]
            reads = self._reads()
            if batch:
                self._commit_measured(batch)
                self._committed()
            _deliver(batch)
            if last:
                return
            if len(batch) > 1:
                self._pace(reads)

    def _pace(self, reads: int) -> None:
        """Wait a few milliseconds for more writes before the next commit, if there were reads during the last one."""
        if self._reads() != reads:
            sleep(PACE_S)

    def _gather(self, first: _Job) -> tuple[list[_Job], bool]:
        """Return the jobs that are waiting now, and whether the thread was told to end."""
        batch = [first]
        try:
            while len(batch) < MAX_BATCH:
                job = self._jobs.get_nowait()
                if job is None:
                    return batch, True
                batch.append(job)
        except Empty:
            pass
        return batch, False

    def waiting(self) -> int:
        """Return how many writes are waiting for the thread."""
        return self._jobs.qsize()

    def _commit_measured(self, batch: list[_Job]) -> None:
        began = perf_counter()
        with tracing.batch("store commit", (job.trace for job in batch), {"holdfast.batch_size": len(batch)}):
            self._commit(batch)
        if self._timed:
            _measure(batch, began, perf_counter())

    def _commit(self, batch: list[_Job]) -> None:
        try:
            self._verify()
            try:
                self._transact(batch, self._attempt)
            except _HalfWritten:
                self._connection.execute("ROLLBACK")
                self._transact(batch, self._attempt_apart)
            self._verify()
        except Exception as error:  # noqa: BLE001 - a thread that ended here would leave every later request waiting
            self._abandon(batch, error)

    def _transact(self, batch: list[_Job], attempt: Callable[[_Job], None]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for job in batch:
            job.result = job.error = None
            attempt(job)
        self._connection.execute("COMMIT")

    def _attempt(self, job: _Job) -> None:
        """Run a job without a savepoint. Rules refuse before anything is written, so a rollback is rarely needed."""
        before = self._connection.total_changes
        try:
            job.result = job.work(self._connection, *job.arguments)
        except Exception as error:
            if type(error) in _IN_DOUBT:
                raise
            if self._connection.total_changes != before:
                raise _HalfWritten from error
            job.error = error

    def _attempt_apart(self, job: _Job) -> None:
        """Run a job in a savepoint, so that nothing is stored if the job fails."""
        connection = self._connection
        connection.execute("SAVEPOINT one")
        try:
            job.result = job.work(connection, *job.arguments)
        except Exception as error:
            if type(error) in _IN_DOUBT:
                raise
            job.error = error  # the error is reported to the request that submitted the job
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")

    def _abandon(self, batch: list[_Job], error: Exception) -> None:
        """Roll back and fail every request of the batch. The next batch begins a new transaction."""
        with contextlib.suppress(Exception):  # also fails without disk or memory; the next batch tries again
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        metrics.STORE_FAILURES.add("write", by=len(batch))
        if not isinstance(error, (OSError, StoreUnavailable, sqlite3.Error)):
            _log.error("batch failed", exc_info=error)
        for job in batch:
            job.error = StoreUnavailable(_words(error))
            job.error.__cause__ = error


def _words(error: Exception) -> str:
    """Return what failed, for the log. SQLite's texts contain no values."""
    if isinstance(error, OSError):
        return file_words(error)
    return str(error) if isinstance(error, (StoreUnavailable, sqlite3.Error)) else "an unexpected error"


def _measure(batch: list[_Job], began: float, ended: float) -> None:
    metrics.BATCH_SIZE.observe(len(batch), "write")
    metrics.BATCH_SECONDS.observe(ended - began, "write")
    for job in batch:
        metrics.STORE_SECONDS.observe(ended - job.since, "write")


def _deliver(batch: list[_Job]) -> None:
    """Wake the waiting requests with one call into each event loop, however many requests are waiting on it."""
    loops: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        loops.setdefault(job.loop, []).append(job)
    for loop, jobs in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, jobs)


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.done():  # the request was cancelled, or was told that the disk stalls
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
