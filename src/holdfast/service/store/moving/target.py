"""The PostgreSQL side of a move: reads rows in key order, and writes differences in short transactions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from holdfast.service.store.moving.source import Row
    from holdfast.service.store.moving.tables import MovedTable
    from holdfast.service.store.postgresql.connection import Connection

_READ_AT_ONCE = 2000
_OTHERS = (
    "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE application_name = 'holdfast'"
    " AND datname = current_database() AND pid <> ALL ($1::int[])"
)
TRIES, _BETWEEN_TRIES_S = 50, 0.1


class NotEmpty(StoreUnavailable):
    """The target database contains rows that this move did not write."""


async def see_no_service(connection: Connection, own: Sequence[int]) -> None:
    """Raise StoreUnavailable while a service has the target open: the move would delete what it stores.

    `own`: the server processes of the move's own connections. Those of a move that was killed take a moment to end.
    """
    for _ in range(TRIES):
        if not await connection.fetchval(_OTHERS, own):
            return
        await asyncio.sleep(_BETWEEN_TRIES_S)
    raise StoreUnavailable("a service has the target open: stop it until the move is finished")


async def claim(connection: Connection, *, is_moved: bool) -> None:
    """Mark the target database as the target of this move. Raises NotEmpty if it contains anything else.

    `is_moved`: whether everything in the source was moved already, so that only the same target may be finished.
    """
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS holdfast.moving"
        " (one boolean PRIMARY KEY DEFAULT true CHECK (one), finished boolean NOT NULL DEFAULT false)"
    )
    finished = await connection.fetchval("SELECT finished FROM holdfast.moving")
    if finished:
        raise NotEmpty("an installation was moved there already")
    if finished is None:
        if is_moved:
            raise StoreUnavailable("the source was moved to another database already: see holdfast migrate --back")
        if await connection.fetchval(
            "SELECT EXISTS (SELECT 1 FROM holdfast.identifiers) OR EXISTS (SELECT 1 FROM holdfast.audit)"
            " OR EXISTS (SELECT 1 FROM holdfast.totals WHERE name <> 'chain')"
        ):
            raise NotEmpty("the target already has registrations; name an empty database")
        await connection.execute("INSERT INTO holdfast.moving DEFAULT VALUES")


async def finish(connection: Connection) -> None:
    """Mark the move as complete, and update the planner's statistics so that the first look-ups are fast."""
    await connection.execute("UPDATE holdfast.moving SET finished = true")
    await connection.execute("SET statement_timeout = 0")
    await connection.execute("ANALYZE")


async def rows(connection: Connection, table: MovedTable) -> AsyncIterator[Row]:
    """Yield the table's rows as of one moment, ordered by key. The connection must be in a transaction."""
    order = ", ".join(table.columns[: table.keys])
    statement = f"SELECT {', '.join(table.columns)} FROM holdfast.{table.name} ORDER BY {order}"  # noqa: S608 - our own names
    async for row in connection.cursor(statement, prefetch=_READ_AT_ONCE):
        yield tuple(row)


async def write(connection: Connection, table: MovedTable, changed: Sequence[Row], gone: Sequence[Row]) -> None:
    """Insert or replace rows, and delete others by key, in one transaction."""
    keys, others = table.columns[: table.keys], table.columns[table.keys :]
    async with connection.transaction():
        if changed:
            await connection.execute(
                f"CREATE TEMP TABLE moved (LIKE holdfast.{table.name}) ON COMMIT DROP"  # constant names, not input
            )
            await connection.copy_records_to_table("moved", records=changed, columns=table.columns)
            updates = ", ".join(f"{column} = excluded.{column}" for column in others)
            then = f"UPDATE SET {updates}" if updates else "NOTHING"
            columns = ", ".join(table.columns)
            await connection.execute(
                f"INSERT INTO holdfast.{table.name} ({columns}) SELECT {columns} FROM moved"  # noqa: S608 - our own names
                f" ON CONFLICT ({', '.join(keys)}) DO {then}"
            )
        if gone:
            condition = " AND ".join(f"{column} = ${n}" for n, column in enumerate(keys, 1))
            await connection.executemany(
                f"DELETE FROM holdfast.{table.name} WHERE {condition}",  # noqa: S608 - our own names
                [row[: table.keys] for row in gone],
            )
