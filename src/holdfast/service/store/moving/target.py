"""The PostgreSQL side of a move: reads rows in key order, and writes differences in short transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from holdfast.service.store.moving.source import Row
    from holdfast.service.store.moving.tables import MovedTable
    from holdfast.service.store.postgresql.lane import Connection

_READ_AT_ONCE = 2000


class NotEmpty(StoreUnavailable):
    """The target database contains rows that this move did not write."""


async def claim(connection: Connection) -> None:
    """Mark the target database as the target of this move. Raises NotEmpty if it contains anything else."""
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS holdfast.moving"
        " (one boolean PRIMARY KEY DEFAULT true CHECK (one), finished boolean NOT NULL DEFAULT false)"
    )
    finished = await connection.fetchval("SELECT finished FROM holdfast.moving")
    if finished:
        raise NotEmpty("an installation was moved there already")
    if finished is None:
        if await connection.fetchval(
            "SELECT EXISTS (SELECT 1 FROM holdfast.identifiers) OR EXISTS (SELECT 1 FROM holdfast.audit)"
            " OR EXISTS (SELECT 1 FROM holdfast.totals)"
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
