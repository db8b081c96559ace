"""Reads rows on the event loop. All reads in one turn of the loop share a read transaction."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING, Any

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics

if TYPE_CHECKING:
    from pathlib import Path


class TurnReader:
    """Reads rows through one connection.

    Each read transaction locks and unlocks the log with two system calls, which cost as much as an index look-up. The
    first read in a turn of the event loop therefore begins a transaction, and the other reads join it. The transaction
    ends before any callback that is queued after the first read, so a request that arrives after a write was
    acknowledged sees that write.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._begun = 0
        self._timed = metrics.enabled()

    def transactions(self) -> int:
        """Return how many read transactions have begun: one per turn of the event loop in which there are reads."""
        return self._begun

    def one(self, statement: str, *parameters: object) -> Any:
        """Return the first row, or None. Raises StoreUnavailable."""
        try:
            if not self._connection.in_transaction:
                return self._first(statement, parameters)
            return self._execute(statement, parameters).fetchone()
        except sqlite3.DatabaseError as error:
            metrics.STORE_FAILURES.add("read")
            raise StoreUnavailable(str(error)) from error

    def _first(self, statement: str, parameters: tuple[object, ...]) -> Any:
        """Do the first read of a turn. Only first reads are timed: timing every read would make requests 1 % slower."""
        began = time.perf_counter()
        self._begin()
        row = self._execute(statement, parameters).fetchone()
        if self._timed:
            metrics.STORE_SECONDS.observe(time.perf_counter() - began, "read")
        return row

    def all(self, statement: str, *parameters: object) -> list[Any]:
        """Return all rows. Raises StoreUnavailable."""
        try:
            if not self._connection.in_transaction:
                self._begin()
            return self._execute(statement, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreUnavailable(str(error)) from error

    def _begin(self) -> None:
        # The end of the transaction is queued before it begins, so that callbacks queued by other threads come after
        # the end.
        asyncio.get_running_loop().call_soon(self._end)
        self._begun += 1
        self._execute("BEGIN")

    def _end(self) -> None:
        # A failed read may have ended the transaction, or the store may have been closed.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._execute("COMMIT")


async def read_apart(file: Path, statement: str, *parameters: object) -> list[Any]:
    """Return all rows of a read that may be long, and therefore runs on a thread. Raises StoreUnavailable."""
    return await asyncio.to_thread(_read, file, statement, parameters)


def _read(file: Path, statement: str, parameters: tuple[object, ...]) -> list[Any]:
    try:  # a file that was taken away is not made anew
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as connection:
            return connection.execute(statement, parameters).fetchall()
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(str(error)) from error


def mark_latest(connection: sqlite3.Connection) -> None:
    """Read once, after a commit and on the committing thread, so that reads on the event loop write nothing.

    The first read after a commit notes in the log's index (`-shm`, mapped into memory) how far it reads. While the disk
    stalls or the file system is frozen, that write would stop the whole process.
    """
    with contextlib.suppress(sqlite3.Error):
        connection.execute("SELECT 1 FROM leases LIMIT 1").fetchall()
