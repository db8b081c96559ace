"""The embedded store's point reads, on the event loop; reads in the same turn share a read transaction."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from typing import Any

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics


class TurnReader:
    """Reads rows through one connection.

    A read takes and drops the log's lock: two system calls that cost as much as an index look-up. So the first
    read in a turn of the event loop opens a transaction and the others join it; it ends before anything that is
    queued after that first read. A request that comes after a write was acknowledged therefore sees that write.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._begun = 0
        self._timed = metrics.enabled()

    def transactions(self) -> int:
        """How many read transactions were begun so far: one for each turn of the event loop with reads."""
        return self._begun

    def one(self, statement: str, *parameters: object) -> Any:
        """Return the first row, or None. Raises StoreUnavailable."""
        try:
            if not self._connection.in_transaction:
                return self._first(statement, parameters)
            return self._execute(statement, parameters).fetchone()
        except sqlite3.DatabaseError as error:
            metrics.STORE_FAILURES.add("read")
            raise StoreUnavailable(type(error).__name__) from error

    def _first(self, statement: str, parameters: tuple[object, ...]) -> Any:
        """Do the first read of a turn. Only these are timed, because timing each would cost a request 1 % more."""
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
            raise StoreUnavailable(type(error).__name__) from error

    def _begin(self) -> None:
        # Its end is queued first, because what another thread queues in the meantime must come after it.
        asyncio.get_running_loop().call_soon(self._end)
        self._begun += 1
        self._execute("BEGIN")

    def _end(self) -> None:
        # A failed read may have ended it, or the store may have been closed: then there is nothing left to end.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._execute("COMMIT")
