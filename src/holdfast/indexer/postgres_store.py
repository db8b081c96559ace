"""The index in a separate PostgreSQL schema. Writing a range takes a few statements, however many events it has."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from holdfast.indexer import postgres_writes
from holdfast.indexer.reads import Reads
from holdfast.indexer.rows import IndexedBlock
from holdfast.indexer.statements import ADDRESSES, BLOCKS, POSTGRES
from holdfast.indexer.store import StoreError
from holdfast.settings.postgresql_connections import CONNECTION_SETTINGS, keep_alive
from holdfast.settings.postgresql_servers import Servers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from asyncpg.pool import PoolConnectionProxy

    from holdfast.indexer.queries import ListQuery
    from holdfast.indexer.reader import Batch
    from holdfast.settings.postgresql import Address

T = TypeVar("T")

_WRITER_LOCK = 0x484F4C44_02
_CONNECTIONS = 4
LEASE_S = 15.0  # how long after the death of the writing process another one takes over
_TIMEOUT_S = 10.0
_CONNECT_S = 3.0
_LIST_MOST_S = 2.0


class PostgresIndexStore(Reads):
    """See IndexStore."""

    statements = POSTGRES

    def __init__(self, address: Address) -> None:
        self._address = address
        self._servers = Servers(address)
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._holder = uuid.uuid4().hex
        self._renew_at: float | None = None  # while this process leads

    async def open(self, identity: str) -> None:
        """See IndexStore."""
        pooled = self._address.pooled
        try:
            self._pool = await asyncpg.create_pool(  # type: ignore[call-overload]  # stubs list the driver's own options
                connect=self._connect,
                min_size=1,
                max_size=_CONNECTIONS,
                init=_init,
                statement_cache_size=100 if self._address.prepares else 0,
                server_settings={} if pooled else {**CONNECTION_SETTINGS, "search_path": postgres_writes.SCHEMA},
            )
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error
        async with self._transaction() as db:
            await postgres_writes.prepare(db, identity)

    async def _connect(self, _dsn: str | None = None, **options: Any) -> asyncpg.Connection[asyncpg.Record]:
        return await self._servers.connect(_CONNECT_S, **options)

    async def close(self) -> None:
        """See IndexStore."""
        if self._pool is None:
            return
        if self._renew_at is not None:
            self._renew_at = None
            with suppress(*_FAULTS):
                await self._pool.execute(postgres_writes.LEAD_NO_MORE, self._holder, timeout=_TIMEOUT_S)
        await self._pool.close()

    async def lead(self) -> bool:
        """See IndexStore.

        The leading process holds a lease, which expires by itself, because a pooler in transaction mode would not keep
        a lock.

        A process whose lease has expired cannot damage the index: each write fails if another process has moved the
        tip.
        """
        now = asyncio.get_running_loop().time()
        if self._renew_at is not None and now < self._renew_at:
            return True
        self._renew_at = None
        if self._pool is None:
            raise StoreError("not open")
        try:
            lease = timedelta(seconds=LEASE_S)
            leads = await self._pool.fetchval(postgres_writes.LEAD, self._holder, lease, timeout=_TIMEOUT_S)
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error
        if leads:
            self._renew_at = now + LEASE_S / 3
        return bool(leads)

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
            if not self._address.pooled:
                return [make(row) for row in await self._pool.fetch(statement, *values, timeout=timeout_s)]
            async with self._pool.acquire(timeout=_TIMEOUT_S) as db, db.transaction(readonly=True):
                await db.execute(_FIND_TABLES)
                return [make(row) for row in await db.fetch(statement, *values, timeout=timeout_s)]
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[PoolConnectionProxy[asyncpg.Record]]:
        """Run a write transaction.

        A lock keeps two processes that both believe they are the leader from writing at the same time.
        """
        if self._pool is None:
            raise StoreError("not open")
        try:
            async with self._pool.acquire(timeout=_TIMEOUT_S) as db, db.transaction():
                if self._address.pooled:
                    await db.execute(_FIND_TABLES)
                await db.execute("SELECT pg_advisory_xact_lock($1)", _WRITER_LOCK)
                yield db
        except _FAULTS as error:
            raise StoreError(type(error).__name__) from error


async def _init(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    keep_alive(connection)


_FIND_TABLES = f"SET LOCAL search_path = {postgres_writes.SCHEMA}"
_FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
