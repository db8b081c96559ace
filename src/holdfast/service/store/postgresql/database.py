"""A PostgreSQL database, as used by commands and at startup."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from holdfast.service.store.database import OtherChain
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import reads, schema
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.citus import HAS_CITUS
from holdfast.service.store.postgresql.connection import LOST, open_connection
from holdfast.service.store.postgresql.findings import server_findings
from holdfast.service.store.postgresql.servers import Servers, database_words
from holdfast.service.store.postgresql.store import PostgresqlStore

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

    from holdfast.service.store.findings import Finding
    from holdfast.service.store.port import Store
    from holdfast.service.store.postgresql.connection import Connection

T = TypeVar("T")
_OPEN_WITHIN_S = 5.0
_WRITTEN_WITHIN_S = 5.0
_ROWS_AT_ONCE = 1000
_CHAIN = "SELECT value FROM holdfast.totals WHERE name = 'chain'"
_OWN_TOOLS = "PostgreSQL is copied and restored with its own tools (pg_dump, pg_basebackup): see docs/postgresql.md"


class PostgresqlDatabase:
    """Implements Database for `postgresql://` URLs; `pooler=transaction` means a pooler in transaction mode."""

    def __init__(self, url: str) -> None:
        """Raises ValueError for a URL of another form."""
        self.address = parse_address(url)

    @property
    def location(self) -> str:
        """See Database."""
        return self.address.location

    @property
    def files(self) -> tuple[Path, ...]:
        """See Database."""
        return ()

    def exists(self) -> bool:
        """See Database."""
        return bool(self._ask(lambda db: db.fetchval("SELECT to_regclass('holdfast.schema_version') IS NOT NULL")))

    def open(self, chain: int | None = None) -> Store:
        """See Database."""
        in_thread(lambda: schema.migrate(self.address, _OPEN_WITHIN_S))
        if chain is not None and (found := self._ask(lambda connection: _keep_chain(connection, chain))) != chain:
            raise OtherChain(found, chain)
        return PostgresqlStore(self.address, is_citus=self._ask(lambda connection: connection.fetchval(HAS_CITUS)))

    def chain(self) -> int | None:
        """See Database."""
        found = self._ask(lambda connection: connection.fetchval(_CHAIN))
        return None if found is None else int(found)

    def try_write(self) -> None:
        """See Database."""
        self._ask(_try_write)

    def findings(self, workers: int) -> list[Finding]:
        """See Database."""
        return self._ask(lambda connection: server_findings(connection, self.address, workers))

    def backup(self, target: Path) -> None:  # noqa: ARG002 - see Database
        """See Database."""
        raise OSError(_OWN_TOOLS)

    def restore(self, backup: Path) -> None:  # noqa: ARG002 - see Database
        """See Database."""
        raise OSError(_OWN_TOOLS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """See Database."""
        loop = asyncio.new_event_loop()
        reader = _RowReader(self)
        worker = threading.Thread(target=loop.run_forever, name="holdfast-rows", daemon=True)
        worker.start()
        try:
            while part := asyncio.run_coroutine_threadsafe(reader.next_part(), loop).result():
                yield from part
        finally:
            asyncio.run_coroutine_threadsafe(reader.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            worker.join()
            loop.close()

    def _ask(self, question: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        return in_thread(lambda: self.ask(question))

    async def ask(self, question: Callable[[Connection], Coroutine[object, object, T]]) -> T:
        """Return what `question` returns when it is called with a new connection. Raises StoreUnavailable."""
        connection = await open_connection(Servers(self.address), _OPEN_WITHIN_S)
        try:
            return await question(connection)
        except LOST as error:
            raise StoreUnavailable(f"{self.location}: {database_words(error)}") from error
        except asyncpg.PostgresError as error:
            raise StoreUnavailable(f"{self.location}: {error}") from error
        finally:
            connection.terminate()


def in_thread(make: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine in another thread and return its result, because the caller may be running in an event loop."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(make()))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)

    thread = threading.Thread(target=run, name="holdfast-database")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


async def _keep_chain(connection: Connection, chain: int) -> int:
    """Return the chain that the database belongs to, which is `chain` if it belonged to none."""
    found = await connection.fetchval(_CHAIN)  # a database that has one is opened by a server that takes no writes, too
    if found is None:
        await connection.execute("INSERT INTO holdfast.totals VALUES ('chain', 0, $1) ON CONFLICT DO NOTHING", chain)
        found = await connection.fetchval(_CHAIN)
    return int(found)


async def _try_write(connection: Connection) -> None:
    """Commit a row to the disk, then remove it; see whether tables have room to grow."""
    async with asyncio.timeout(_WRITTEN_WITHIN_S):  # no other limit ends a commit that waits for a standby
        await connection.execute(
            "INSERT INTO holdfast.leases VALUES ('check', 'check', 0) ON CONFLICT (name) DO UPDATE SET expires_at = 0"
        )
        await connection.execute("DELETE FROM holdfast.leases WHERE name = 'check'")
        is_citus = await connection.fetchval(HAS_CITUS)
        rows = await connection.fetch(reads.ROOM.for_engine(is_citus=is_citus))
    for error in filter(None, reads.ROOM.decode((), rows)):
        raise error


class _RowReader:
    """Reads every row of every table as of one moment, in parts."""

    def __init__(self, database: PostgresqlDatabase) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._tables = list(schema.TABLES)
        self._cursor: Any = None

    async def next_part(self) -> list[dict[str, Any]]:
        """Return the next part of the rows; an empty list at the end."""
        try:
            return await self._next_part()
        except (*LOST, asyncpg.PostgresError) as error:
            raise StoreUnavailable(f"{self._database.location}: {database_words(error)}") from error

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    async def _next_part(self) -> list[dict[str, Any]]:
        if self._connection is None:
            self._connection = await open_connection(Servers(self._database.address), _OPEN_WITHIN_S)
            await self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await self._connection.execute(
                "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
            )
        while self._tables:
            if self._cursor is None:
                # The view `history` contains the audit and the events that follow from current rows.
                source = "history" if self._tables[0] == "audit" else self._tables[0]
                self._cursor = await self._connection.cursor(f"SELECT * FROM holdfast.{source}")  # noqa: S608 - our own names
            rows = await self._cursor.fetch(_ROWS_AT_ONCE)
            if rows:
                return [{"table": self._tables[0], **{name: _plain(row[name]) for name in row.keys()}} for row in rows]  # noqa: SIM118 - asyncpg.Record
            self._cursor = None
            del self._tables[0]
        return []


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, int | float | str | list | None) else str(value)
