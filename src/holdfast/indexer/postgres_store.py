"""The index in a separate PostgreSQL schema. A range needs a handful of statements, however many events it has."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from holdfast.indexer import postgres_writes
from holdfast.indexer.reads import Reads
from holdfast.indexer.rows import IndexedBlock
from holdfast.indexer.statements import ADDRESSES, BLOCKS, POSTGRES
from holdfast.indexer.store import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from asyncpg.pool import PoolConnectionProxy

    from holdfast.indexer.queries import ListQuery
    from holdfast.indexer.reader import Batch

T = TypeVar("T")

_LEADER_LOCK, _WRITER_LOCK = 0x484F4C44_01, 0x484F4C44_02
_CONNECTIONS = 4
_TIMEOUT_S = 10.0
_LIST_MOST_S = 2.0


class PostgresIndexStore(Reads):
    """See IndexStore."""

    statements = POSTGRES

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._leader: asyncpg.Connection[asyncpg.Record] | None = None
        self._leads = False

    async def open(self, identity: str) -> None:
        """See IndexStore."""
        with_schema = {"search_path": postgres_writes.SCHEMA}
        try:
            self._pool = await asyncpg.create_pool(
                self._url, min_size=1, max_size=_CONNECTIONS, timeout=_TIMEOUT_S, server_settings=with_schema
            )
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error
        async with self._transaction() as db:
            await postgres_writes.prepare(db, identity)

    async def close(self) -> None:
        """See IndexStore."""
        leader, self._leader = self._leader, None
        if leader is not None:
            await leader.close(timeout=_TIMEOUT_S)
        if self._pool is not None:
            await self._pool.close()

    async def lead(self) -> bool:
        """See IndexStore. The lock lasts as long as the connection that took it."""
        try:
            if self._leader is None or self._leader.is_closed():
                self._leads, self._leader = False, await asyncpg.connect(self._url, timeout=_TIMEOUT_S)
            if not self._leads:
                self._leads = bool(await self._leader.fetchval("SELECT pg_try_advisory_lock($1)", _LEADER_LOCK))
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error
        return self._leads

    async def tip(self) -> IndexedBlock | None:
        """See IndexStore."""
        return await self._first(IndexedBlock._make, f"{BLOCKS} LIMIT 1")

    async def blocks(self) -> list[IndexedBlock]:
        """See IndexStore."""
        return await self._fetch(IndexedBlock._make, BLOCKS)

    async def account_addresses(self) -> list[bytes]:
        """See IndexStore."""
        return await self._fetch(lambda row: next(iter(row)), ADDRESSES)

    async def apply(self, parent: IndexedBlock | None, batch: Batch, floor: int) -> None:
        """See IndexStore."""
        async with self._transaction() as db:
            await postgres_writes.apply(db, parent, batch, floor)

    async def rewind(self, tip: IndexedBlock, to: IndexedBlock) -> None:
        """See IndexStore."""
        async with self._transaction() as db:
            await postgres_writes.rewind(db, tip, to)

    async def reset(self) -> None:
        """See IndexStore."""
        async with self._transaction() as db:
            await postgres_writes.reset(db)

    async def _first(self, make: Callable[[Iterable[Any]], T], statement: str, *values: bytes) -> T | None:
        found = await self._fetch(make, statement, *values)
        return found[0] if found else None

    async def _list(self, make: Callable[[Iterable[Any]], T], query: ListQuery) -> list[T]:
        statement, values = query.statement(numbered=True)
        return await self._fetch(make, statement, *values, timeout_s=_LIST_MOST_S)

    async def _fetch(
        self, make: Callable[[Iterable[Any]], T], statement: str, *values: Any, timeout_s: float = _TIMEOUT_S
    ) -> list[T]:
        if self._pool is None:
            raise StoreError("not open")
        try:
            return [make(row) for row in await self._pool.fetch(statement, *values, timeout=timeout_s)]
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[PoolConnectionProxy[asyncpg.Record]]:
        """A transaction of the writer. Another process that believes it leads must wait for the lock."""
        if self._pool is None:
            raise StoreError("not open")
        try:
            async with self._pool.acquire(timeout=_TIMEOUT_S) as db, db.transaction():
                await db.execute("SELECT pg_advisory_xact_lock($1)", _WRITER_LOCK)
                yield db
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error


_FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
