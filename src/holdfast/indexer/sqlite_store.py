"""The index in one SQLite file: write-ahead log, strict tables, one writer.

Writes run in one thread, and list queries in another. A look-up by key takes about ten microseconds, less than handing
it to a thread, so it runs on the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.indexer import queries, sqlite_writes
from holdfast.indexer.rows import AccountRow, DidRow, Event
from holdfast.indexer.sqlite_repair import file_number, is_damage, put_aside
from holdfast.indexer.statements import SELECT
from holdfast.indexer.store import AliasView, StatsView, StoreError
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from holdfast.indexer.queries import ListQuery
    from holdfast.indexer.reader import Batch
    from holdfast.indexer.rows import IndexedBlock

T = TypeVar("T")

_WRITER_WAITS_S = 10.0
_READER_WAITS_S = 0.2
LIST_MOST_S = 0.5
STEPS_BETWEEN_LOOKS = 20_000


class SqliteIndexStore:
    """One index. Every method raises StoreError if the database fails. Each write is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = ThreadPoolExecutor(1, "indexer-writer")
        self._lister = ThreadPoolExecutor(1, "indexer-lister")
        self._connections: dict[str, sqlite3.Connection] = {}
        self._identity: str | None = None
        self._file: int | None = None
        self._damaged = False

    async def open(self, identity: str) -> None:
        """Connect, and empty an index built for a different identity (chain, contracts, start, schema version)."""
        self._identity = identity
        await self._in(self._writer, self._open)

    async def close(self) -> None:
        """Close the database."""
        await asyncio.to_thread(self._close)

    async def lead(self) -> bool:
        """Return whether this process is the leader, which alone writes until it closes the store or exits."""
        return await self._in(self._writer, self._lead)

    async def tip(self) -> IndexedBlock | None:
        """Return the block up to which the index is complete."""
        return await self._in(self._writer, lambda: sqlite_writes.tip(self.connection("writer")))

    async def blocks(self) -> list[IndexedBlock]:
        """Return the stored blocks to which the index can go back, newest first; the first one is its tip."""
        return await self._in(self._writer, lambda: sqlite_writes.blocks(self.connection("writer")))

    async def account_addresses(self) -> list[bytes]:
        """Return the addresses of all accounts."""
        return await self._in(self._writer, lambda: sqlite_writes.account_addresses(self.connection("writer")))

    async def apply(self, parent: IndexedBlock | None, batch: Batch, floor: int) -> None:
        """Add a range of blocks with its hashes and undo entries.

        Args:
            parent: The tip that the range follows. Raises TipMoved if the index has another tip.
            batch: The range.
            floor: The block below which hashes, and up to which undo entries, are dropped.
        """
        await self._write(lambda db: sqlite_writes.apply(db, parent, batch, floor))

    async def rewind(self, tip: IndexedBlock, to: IndexedBlock) -> None:
        """Rewind the index from `tip` to `to`, which is one of `blocks()`. Raises TipMoved."""
        await self._write(lambda db: sqlite_writes.rewind(db, tip, to))

    async def reset(self) -> None:
        """Empty the index."""
        await self._write(sqlite_writes.reset)

    async def did(self, did_hash: bytes) -> DidRow | None:
        """Return one DID."""
        return await self._first(DidRow._make, SELECT["dids"], did_hash)

    async def alias(self, alias_hash: bytes) -> AliasView | None:
        """Return one alias."""
        return await self._first(AliasView._make, queries.ALIAS_BY_HASH, alias_hash)

    async def account(self, address: bytes) -> AccountRow | None:
        """Return one account."""
        return await self._first(AccountRow._make, SELECT["accounts"], address)

    async def stats(self) -> StatsView:
        """Return the counters."""
        found = await self._first(StatsView._make, queries.STATS)
        assert found is not None
        return found

    async def dids(self, query: ListQuery) -> list[DidRow]:
        """Return a page of DIDs in order of registration."""
        return await self._list(DidRow._make, query)

    async def aliases(self, query: ListQuery) -> list[AliasView]:
        """Return a page of aliases in order of registration."""
        return await self._list(AliasView._make, query)

    async def accounts(self, query: ListQuery) -> list[AccountRow]:
        """Return a page of accounts in order of creation."""
        return await self._list(AccountRow._make, query)

    async def events(self, query: ListQuery) -> list[Event]:
        """Return a page of events in chain order."""
        narrowed = queries.decided(query)
        return [] if narrowed is None else await self._list(Event._make, narrowed)

    async def _first(self, make: Callable[[Iterable[Any]], T], statement: str, *values: bytes) -> T | None:
        with self._as_store_errors():
            row = self.connection("points").execute(statement, values).fetchone()
        return None if row is None else make(row)

    async def _list(self, make: Callable[[Iterable[Any]], T], query: ListQuery) -> list[T]:
        statement, values = query.statement()

        def work() -> list[T]:
            db, deadline = self.connection("lists"), time.monotonic() + LIST_MOST_S
            # A query whose filter no row satisfies scans the whole table; the time limit keeps it from blocking the
            # thread.
            db.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_LOOKS)
            return [make(row) for row in db.execute(statement, values)]

        return await self._in(self._lister, work)

    async def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def in_transaction() -> None:
            with self._transaction() as db:
                work(db)

        await self._in(self._writer, in_transaction)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        def guarded() -> T:
            with self._as_store_errors():
                if thread is self._writer:
                    self._mend()
                return work()

        return await asyncio.get_running_loop().run_in_executor(thread, guarded)

    def connection(self, name: str) -> sqlite3.Connection:
        """Return the connection of the writer, the points or the lists. Raises StoreError if it is not open."""
        if name not in self._connections:
            raise StoreError("not open")
        return self._connections[name]

    def _mend(self) -> None:
        """Reopen a file that was found damaged, or that another process has renamed or removed.

        Only the leading process renames a damaged file; the others open the new one once it exists.
        """
        if not self._damaged and (self._file is None or self._file == file_number(self._path)):
            return
        for name in _OF_THE_FILE:
            if (old := self._connections.pop(name, None)) is not None:
                old.close()
        if self._damaged and self._lead():
            put_aside(self._path)
        self._damaged = False
        self._open()

    def _open(self) -> None:
        assert self._identity is not None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        writer = self._connect("writer", _WRITER_WAITS_S)
        writer.execute("PRAGMA journal_mode = WAL")
        # Events lost in a power failure are read again from the chain, so commits need not wait for the disk.
        writer.execute("PRAGMA synchronous = NORMAL")
        with self._transaction() as db:
            sqlite_writes.prepare(db, self._identity)
        for name, wait_s in (("points", _READER_WAITS_S), ("lists", _WRITER_WAITS_S)):
            self._connect(name, wait_s).execute("PRAGMA query_only = ON")
        self._file = file_number(self._path)

    def _connect(self, name: str, wait_s: float) -> sqlite3.Connection:
        # A failed attempt to open the database may have left a connection open under this name.
        if (old := self._connections.pop(name, None)) is not None:
            old.close()
        connection = sqlite3.connect(self._path, timeout=wait_s, isolation_level=None, check_same_thread=False)
        self._connections[name] = connection
        return connection

    def _close(self) -> None:
        self._writer.shutdown(wait=True)
        self._lister.shutdown(wait=True)
        while self._connections:
            self._connections.popitem()[1].close()

    def _lead(self) -> bool:
        """Become the leader by beginning an exclusive transaction on a file next to the index.

        It ends with the process.
        """
        if "leader" in self._connections:
            return True
        lock = sqlite3.connect(f"{self._path}-leader", timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            lock.close()
            if is_damage(error):  # the file is empty
                Path(f"{self._path}-leader").unlink()
            return False
        self._connections["leader"] = lock
        return True

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self.connection("writer")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self._damaged = self._damaged or is_damage(error)
            raise StoreError(file_words(error) if isinstance(error, OSError) else str(error)) from error


_OF_THE_FILE = ("writer", "points", "lists")
