"""What the writer of a PostgreSQL index does inside one transaction: a handful of statements, however many events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.indexer import folding
from holdfast.indexer.rows import ENTITIES, Block, JournalRow, Row
from holdfast.indexer.store import TipMoved
from holdfast.indexer.tables import POSTGRES_TYPES, TABLES, definitions, on_conflict_replace

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

    from holdfast.indexer.folding import Key, Rows
    from holdfast.indexer.reader import Batch

    Connection = PoolConnectionProxy[asyncpg.Record]

SCHEMA = "holdfast_indexer"


async def prepare(db: Connection, identity: str) -> None:
    """Make the schema anew unless it belongs to `identity`."""
    if await _identity(db) == identity:
        return
    await db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    await db.execute(f"CREATE SCHEMA {SCHEMA}")
    for statement in definitions(POSTGRES_TYPES, ""):
        await db.execute(statement)
    await db.execute("CREATE TABLE meta (identity text NOT NULL)")
    await db.execute("INSERT INTO meta VALUES ($1)", identity)


async def apply(db: Connection, parent: Block | None, batch: Batch, floor: int) -> None:
    """See IndexStore.apply."""
    await _expect(db, parent)
    rows = await _rows(db, folding.keys_of(batch.events))
    # Thousands of events take tens of milliseconds, which requests on the same loop must not wait for.
    outcome = await asyncio.to_thread(folding.fold, rows, batch.events, floor)
    await _put(db, outcome.changed)
    kept = [block for block in batch.blocks if block.number >= floor]
    for name, records in (("events", batch.events), ("journal", outcome.journal), ("blocks", kept)):
        await db.copy_records_to_table(name, records=records, schema_name=SCHEMA)
    await db.execute("DELETE FROM journal WHERE block_number <= $1", floor)
    await db.execute("DELETE FROM blocks WHERE number < $1", floor)


async def rewind(db: Connection, expected: Block, to: Block) -> None:
    """See IndexStore.rewind."""
    await _expect(db, expected)
    journal = [JournalRow(*row) for row in await db.fetch(_JOURNAL_ABOVE, to.number)]
    await _put(db, folding.restored(journal))
    await db.execute("DELETE FROM events WHERE block_number > $1", to.number)
    await db.execute("DELETE FROM journal WHERE block_number > $1", to.number)
    await db.execute("DELETE FROM blocks WHERE number > $1", to.number)


async def reset(db: Connection) -> None:
    """See IndexStore.reset. Not TRUNCATE: its lock would make every read wait."""
    for name in TABLES:
        await db.execute(f"DELETE FROM {name}")  # noqa: S608 - a name of our own table


async def _identity(db: Connection) -> str | None:
    if await db.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.meta") is None:
        return None
    found = await db.fetchval("SELECT identity FROM meta")
    return None if found is None else str(found)


async def _expect(db: Connection, tip: Block | None) -> None:
    row = await db.fetchrow(f"{BLOCKS} LIMIT 1")
    if (None if row is None else Block(*row)) != tip:
        raise TipMoved


async def _rows(db: Connection, keys: set[Key]) -> Rows:
    found: dict[Key, Row | None] = dict.fromkeys(keys)
    for entity, make in ENTITIES.items():
        mine = [key for name, key in keys if name == entity]
        if mine:
            for record in await db.fetch(SELECT[entity], mine):
                row = make(*record)
                found[entity, row[0]] = row
    return found


async def _put(db: Connection, rows: Rows) -> None:
    for entity in ENTITIES:
        gone = [key for (name, key), row in rows.items() if name == entity and row is None]
        there = [row for (name, _), row in rows.items() if name == entity and row is not None]
        if gone:
            await db.execute(_DELETE[entity], gone)
        if there:
            await db.execute(_UPSERT[entity], *map(list, zip(*there, strict=True)))


def _upsert(name: str) -> str:
    table = TABLES[name]
    arrays = ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(table.types(POSTGRES_TYPES), 1))
    columns = ", ".join(table.columns)
    return f"INSERT INTO {name} ({columns}) SELECT * FROM unnest({arrays}) {on_conflict_replace(table)}"  # noqa: S608 - our own names


def _select(name: str) -> str:
    table = TABLES[name]
    return f"SELECT {', '.join(table.columns)} FROM {name} WHERE {table.key[0]} = ANY($1::bytea[])"  # noqa: S608 - our own names


BLOCKS = "SELECT number, hash FROM blocks ORDER BY number DESC"
_JOURNAL_ABOVE = (
    "SELECT block_number, entity, key, before FROM journal WHERE block_number > $1 ORDER BY block_number DESC"
)
SELECT = {name: _select(name) for name in ENTITIES}
_UPSERT = {name: _upsert(name) for name in ENTITIES}
_DELETE = {name: f"DELETE FROM {name} WHERE {TABLES[name].key[0]} = ANY($1::bytea[])" for name in ENTITIES}  # noqa: S608 - our own names
