"""Group commit: one thread writes everything that waits in one transaction.

A durable commit costs one flush of the disk however many writes it carries, so registrations per second grow with
the number that arrive together (measured: six times a transaction each, twenty-two on a disk with 1 ms flushes).
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
MAX_BATCH = 512
# Full disk, lost or damaged file: the whole transaction is in doubt, not only the write that met it first.
_IN_DOUBT = (sqlite3.OperationalError, sqlite3.InternalError, sqlite3.DatabaseError)


class _Job:
    """One write, the future that waits for it, and what came of it."""

    __slots__ = ("error", "future", "loop", "result", "work")

    def __init__(self, work: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None


class _HalfWritten(Exception):
    """A job failed after it had written: its batch is done again with a savepoint each."""


class GroupCommitWriter:
    """Runs writes on a separate thread; each awaits the commit that carries it."""

    def __init__(self, connection: sqlite3.Connection, verify: Callable[[], None]) -> None:
        """`verify` is called around each commit and raises StoreUnavailable when the file is not the one opened."""
        self._connection = connection
        self._verify = verify
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="holdfast-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, once it is on disk; what it raises, with nothing of it kept.

        Raises:
            StoreUnavailable: the transaction that carried it could not begin or commit.
        """
        if self._closed:
            raise StoreUnavailable("the store is closed")
        job = _Job(work, asyncio.get_running_loop())
        self._jobs.put(job)
        result: T = await job.future
        return result

    async def close(self) -> None:
        """Finish what was accepted, then end the thread."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch, last = self._gather(job)
            self._commit(batch)
            _deliver(batch)
            if last:
                return

    def _gather(self, first: _Job) -> tuple[list[_Job], bool]:
        """Everything that waits right now, and whether the end was asked for."""
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
        """Without a savepoint: rules refuse before anything is written, so nearly never is there something to undo."""
        before = self._connection.total_changes
        try:
            job.result = job.work(self._connection)
        except Exception as error:
            if type(error) in _IN_DOUBT:
                raise
            if self._connection.total_changes != before:
                raise _HalfWritten from error
            job.error = error

    def _attempt_apart(self, job: _Job) -> None:
        """In a separate savepoint, so that a job that failed half-way leaves nothing behind."""
        connection = self._connection
        connection.execute("SAVEPOINT one")
        try:
            job.result = job.work(connection)
        except Exception as error:
            if type(error) in _IN_DOUBT:
                raise
            job.error = error  # whatever it is belongs to the request that brought it
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")

    def _abandon(self, batch: list[_Job], error: Exception) -> None:
        """Nothing of the batch was kept: each request in it gets the error, and the next batch starts afresh."""
        with contextlib.suppress(sqlite3.Error):  # a disk that is gone fails here as well; the next batch tries again
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        for job in batch:
            job.error = StoreUnavailable(str(error) if isinstance(error, StoreUnavailable) else type(error).__name__)
            job.error.__cause__ = error


def _deliver(batch: list[_Job]) -> None:
    """Wake the waiting requests: one call into each event loop, however many wait there."""
    loops: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        loops.setdefault(job.loop, []).append(job)
    for loop, jobs in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, jobs)


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.cancelled():
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
