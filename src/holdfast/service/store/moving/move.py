"""Moves data in passes: each reads both databases in the same order and writes only the differences.

If a pass is killed, the next one finds most of the work done. While the service continues to write, a further pass only
has to copy what changed in the meantime.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncpg

from holdfast.service.store.database import InUse
from holdfast.service.store.moving import target
from holdfast.service.store.moving.source import TABLES, opened
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import schema
from holdfast.service.store.postgresql.connection import LOST, open_connection
from holdfast.service.store.postgresql.servers import Servers
from holdfast.service.store.sqlite.moved import is_moved
from holdfast.wire.connection_errors import connection_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from holdfast.service.store.moving.source import Row, SourceDatabase
    from holdfast.service.store.moving.tables import MovedTable
    from holdfast.service.store.postgresql.address import Address
    from holdfast.service.store.postgresql.connection import Connection

WRITTEN_AT_ONCE = 2000
_CONNECT_S = 5.0


@dataclass(slots=True)
class MoveReport:
    """What a move did.

    Attributes:
        rows: number of rows in each table of the source.
        written: number of rows written or removed in the target.
        checksums: SHA-256 of each table's rows, equal on both sides; empty while the service is still writing.
        finished: whether the target is complete, so that the service can be started on it.
    """

    rows: dict[str, int] = field(default_factory=dict)
    written: int = 0
    checksums: dict[str, str] = field(default_factory=dict)
    finished: bool = False


class NotTheSame(Exception):
    """The two databases differ after the move."""


async def move(file: Path, address: Address, progress: Callable[[str, int, int], None]) -> MoveReport:
    """Copy what the target lacks, and finish the move if no service has the source open.

    Args:
        file: the embedded database; once everything is moved, it is marked, and no service starts on it.
        address: the database to move to: an empty one, or one that an earlier call began to fill.
        progress: called with a table's name, how many of its rows were compared, and how many it has.

    Raises:
        StoreUnavailable: the target cannot be reached, contains other registrations (NotEmpty), or has a service.
        NotTheSame: a table's count or checksum differs at the end.
        SchemaTooNew: the target has the schema of a newer release.
    """
    await schema.migrate(address, _CONNECT_S, moving=True)
    try:
        reader = await open_connection(Servers(address), _CONNECT_S)
        writer = await open_connection(Servers(address), _CONNECT_S)
        try:
            own = [reader.get_server_pid(), writer.get_server_pid()]
            await target.see_no_service(writer, own)  # before the mark: a move deletes what others stored
            await target.claim(writer, is_moved=is_moved(file))
            await target.see_no_service(writer, own)
            for connection in (reader, writer):
                await connection.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
            return await _passes(file, reader, writer, progress)
        finally:
            reader.terminate()
            writer.terminate()
    except (*LOST, asyncpg.PostgresError) as error:
        raise StoreUnavailable(f"{address.location}: {str(error) or connection_words(error)}") from error


async def _passes(
    file: Path, reader: Connection, writer: Connection, progress: Callable[[str, int, int], None]
) -> MoveReport:
    report = MoveReport()
    try:
        with opened(file, alone=True) as source:
            await _one_pass(source, reader, writer, report, progress)
            await _verify(source, reader, report)
            source.mark_moved()  # first, so that at no moment both databases may be served
            await target.finish(writer)
            report.finished = True
    except InUse:
        with opened(file, alone=False) as source:
            await _one_pass(source, reader, writer, report, progress)
    return report


async def _one_pass(
    source: SourceDatabase,
    reader: Connection,
    writer: Connection,
    report: MoveReport,
    progress: Callable[[str, int, int], None],
) -> None:
    for table in TABLES:
        report.rows[table.name] = source.count(table)
        async with reader.transaction(isolation="repeatable_read", readonly=True):
            theirs = _Ahead(target.rows(reader, table))
            await _one_table(table, source.rows(table), theirs, writer, report, progress)


async def _one_table(
    table: MovedTable,
    ours: Iterator[Row],
    theirs: _Ahead,
    writer: Connection,
    report: MoveReport,
    progress: Callable[[str, int, int], None],
) -> None:
    changed: list[Row] = []
    gone: list[Row] = []
    looked_at = 0

    async def flush() -> None:
        await target.write(writer, table, changed, gone)
        report.written += len(changed) + len(gone)
        changed.clear()
        gone.clear()
        progress(table.name, looked_at, report.rows[table.name])

    for row in ours:
        looked_at += 1
        key = row[: table.keys]
        while (other := await theirs.peek()) is not None and other[: table.keys] < key:
            gone.append(await theirs.take())
        if other is not None and other[: table.keys] == key:
            if await theirs.take() != row:
                changed.append(row)
        else:
            changed.append(row)
        if len(changed) + len(gone) >= WRITTEN_AT_ONCE:
            await flush()
    while await theirs.peek() is not None:
        gone.append(await theirs.take())
    await flush()


class _Ahead:
    """An iterator over rows that allows the next row to be inspected."""

    def __init__(self, rows: AsyncIterator[Row]) -> None:
        self._rows = rows
        self._next: Row | None = None
        self._over = False

    async def peek(self) -> Row | None:
        if self._next is None and not self._over:
            self._next = await anext(self._rows, None)
            self._over = self._next is None
        return self._next

    async def take(self) -> Row:
        row = await self.peek()
        assert row is not None
        self._next = None
        return row


async def _verify(source: SourceDatabase, reader: Connection, report: MoveReport) -> None:
    """Compare the counts and checksums of both databases' rows, which are read again for this purpose."""
    for table in TABLES:
        ours = _Checksum()
        for row in source.rows(table):
            ours.add(row)
        theirs = _Checksum()
        async with reader.transaction(isolation="repeatable_read", readonly=True):
            async for row in target.rows(reader, table):
                theirs.add(row)
        if (ours.count, ours.value()) != (theirs.count, theirs.value()):
            raise NotTheSame(f"{table.name}: {ours.count} rows in the source, {theirs.count} in the target")
        report.checksums[table.name] = ours.value()


class _Checksum:
    def __init__(self) -> None:
        self.count = 0
        self._hash = hashlib.sha256()

    def add(self, row: Row) -> None:
        self.count += 1
        self._hash.update(repr([_canonical(value) for value in row]).encode())

    def value(self) -> str:
        return self._hash.hexdigest()


def _canonical(value: Any) -> Any:
    return str(value) if type(value).__name__ == "UUID" else value
