"""A part of a migration that processes every row of a table, however many rows it has."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.shards import SHARDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.store.postgresql.connection import Connection

_log = logging.getLogger("holdfast.store")
ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class Backfill:
    """Processes a table in key order, in short transactions: other writes never wait long, and each row is read once.

    Attributes:
        table: the table to process.
        key: the columns of its key with their types; the first is `shard`, the others are texts.
        statement: the SQL statement for the rows of `{part}`, a condition on the key; running it twice must do no harm.
        at_once: how many rows each part has.
    """

    table: str
    key: tuple[tuple[str, str], ...]
    statement: str
    at_once: int = ROWS_AT_ONCE

    async def run(self, connection: Connection) -> int:
        """Process all rows; return how many rows the statement wrote.

        An interrupted backfill starts over.
        """
        written = parts = 0
        start: Sequence[Any] | None = self._before_shard(-1)
        while start is not None:
            async with connection.transaction():
                await connection.execute("SET LOCAL statement_timeout = 0")
                end = await self._end_of_part(connection, start)
                written += await self._do(connection, start, end or self._before_shard(SHARDS))
            start, parts = end, parts + 1
            if end is not None:
                _log.info("backfill", extra={"table": self.table, "rows": parts * self.at_once, "written": written})
        return written

    def _before_shard(self, shard: int) -> Sequence[Any]:
        """Return a key that precedes all keys of this shard."""
        return (shard, *[""] * (len(self.key) - 1))

    def _columns(self) -> str:
        return f"({', '.join(name for name, _ in self.key)})"

    def _values(self, first: int) -> str:
        return f"({', '.join(f'${n}::{kind}' for n, (_, kind) in enumerate(self.key, first))})"

    async def _end_of_part(self, connection: Connection, start: Sequence[Any]) -> Sequence[Any] | None:
        """Return the key of the last row in the part after `start`; None if there are no further parts."""
        names = ", ".join(name for name, _ in self.key)
        row = await connection.fetchrow(
            f"SELECT {names} FROM {self.table} WHERE {self._columns()} > {self._values(1)}"  # noqa: S608 - our own names
            f" ORDER BY {names} OFFSET {self.at_once - 1} LIMIT 1",
            *start,
        )
        return None if row is None else tuple(row)

    async def _do(self, connection: Connection, start: Sequence[Any], end: Sequence[Any]) -> int:
        count = len(self.key)
        part = f"{self._columns()} > {self._values(1)} AND {self._columns()} <= {self._values(1 + count)}"
        status: str = await connection.execute(self.statement.format(part=part), *start, *end)
        return int(status.rpartition(" ")[2])
