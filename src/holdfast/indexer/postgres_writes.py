"""The writes to a PostgreSQL index: each is one transaction of a handful of statements, however many events it has."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.indexer import folding
from holdfast.indexer.rows import ENTITIES, IndexedBlock, JournalRow, Row
from holdfast.indexer.statements import BLOCKS, DELETE, EMPTY, POSTGRES, SELECT
from holdfast.indexer.store import TipMoved
from holdfast.indexer.tables import POSTGRES_TYPES, TABLES, definitions, on_conflict_replace

if TYPE_CHECKING:
    import asyncpg
    from asyncpg.pool import PoolConnectionProxy

    from holdfast.indexer.folding import Key, Rows
    from holdfast.indexer.reader import Batch

    Connection = PoolConnectionProxy[asyncpg.Record]

SCHEMA = "holdfast_indexer"
_ANY = "ANY($1::bytea[])"  # of all keys at once


_LEADER = (
    f"CREATE TABLE IF NOT EXISTS {SCHEMA}.leader"
    " (one boolean PRIMARY KEY DEFAULT true CHECK (one), holder text NOT NULL, ends timestamptz NOT NULL)"
)
# The lease is timed by the database's clock, so that the nodes' clocks do not matter.
LEAD = (
    f"INSERT INTO {SCHEMA}.leader AS t (holder, ends) VALUES ($1, clock_timestamp() + $2)"  # noqa: S608 - our own names
    " ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, ends = excluded.ends"
    " WHERE t.holder = excluded.holder OR t.ends <= clock_timestamp() RETURNING true"
)
LEAD_NO_MORE = f"DELETE FROM {SCHEMA}.leader WHERE holder = $1"  # noqa: S608 - our own names


async def prepare(db: Connection, identity: str) -> None:
    """Recreate the schema, unless it was made for an index with this identity."""
    if await _identity(db) == identity:
        await db.execute(_LEADER)  # an older release made none
        return
    await db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    await db.execute(f"CREATE SCHEMA {SCHEMA}")
    for statement in definitions(POSTGRES_TYPES, ""):
        await db.execute(statement)
    await db.execute(_LEADER)
    await db.execute("CREATE TABLE meta (identity text NOT NULL)")
    await db.execute("INSERT INTO meta VALUES ($1)", identity)


async def apply(db: Connection, parent: IndexedBlock | None, batch: Batch, floor: int) -> None:
    """See IndexStore.apply."""
    await _expect(db, parent)
    rows = await _rows(db, folding.keys_of(batch.events))
    # Folding thousands of events takes tens of milliseconds, so it runs outside the event loop.
    outcome = await asyncio.to_thread(folding.fold, rows, batch.events, floor)
    await _put(db, outcome.changed)
    kept = [block for block in batch.blocks if block.number >= floor]
    for name, records in (("events", outcome.events), ("journal", outcome.journal), ("blocks", kept)):
        await db.copy_records_to_table(name, records=records, schema_name=SCHEMA)
    for statement in POSTGRES.forget:
        await db.execute(statement, floor)


async def rewind(db: Connection, expected: IndexedBlock, to: IndexedBlock) -> None:
    """See IndexStore.rewind."""
    await _expect(db, expected)
    journal = [JournalRow(*row) for row in await db.fetch(POSTGRES.journal_above, to.number)]
    await _put(db, folding.restored(journal))
    for statement in POSTGRES.cut:
        await db.execute(statement, to.number)


async def reset(db: Connection) -> None:
    """See IndexStore.reset. TRUNCATE is not used, because its lock would block all reads."""
    for statement in EMPTY:
        await db.execute(statement)


async def _identity(db: Connection) -> str | None:
    if await db.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.meta") is None:
        return None
    found = await db.fetchval("SELECT identity FROM meta")
    return None if found is None else str(found)


async def _expect(db: Connection, tip: IndexedBlock | None) -> None:
    row = await db.fetchrow(f"{BLOCKS} LIMIT 1")
    if (None if row is None else IndexedBlock(*row)) != tip:
        raise TipMoved


async def _rows(db: Connection, keys: set[Key]) -> Rows:
    found: dict[Key, Row | None] = dict.fromkeys(keys)
    for entity, make in ENTITIES.items():
        mine = [key for name, key in keys if name == entity]
        if mine:
            for record in await db.fetch(_SELECT[entity], mine):
                row = make(*record)
                found[entity, row[0]] = row
    return found


async def _put(db: Connection, rows: Rows) -> None:
    for entity, gone, there in folding.by_entity(rows):
        if gone:
            await db.execute(_DELETE[entity], gone)
        if there:
            await db.execute(_UPSERT[entity], *map(list, zip(*there, strict=True)))


def _upsert(name: str) -> str:
    table = TABLES[name]
    arrays = ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(table.types(POSTGRES_TYPES), 1))
    columns = ", ".join(table.columns)
    return f"INSERT INTO {name} ({columns}) SELECT * FROM unnest({arrays}) {on_conflict_replace(table)}"  # noqa: S608 - our own names


_SELECT = {name: f"{SELECT[name]} {_ANY}" for name in ENTITIES}
_UPSERT = {name: _upsert(name) for name in ENTITIES}
_DELETE = {name: f"{DELETE[name]} {_ANY}" for name in ENTITIES}
