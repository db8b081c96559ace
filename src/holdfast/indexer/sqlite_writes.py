"""The writes to a SQLite index, each within one transaction. Statements are derived from the table definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.indexer import folding
from holdfast.indexer.rows import ENTITIES, IndexedBlock, JournalRow, Row
from holdfast.indexer.statements import ADDRESSES, BLOCKS, CUT, DELETE, EMPTY, FORGET, JOURNAL_ABOVE, SELECT
from holdfast.indexer.store import TipMoved
from holdfast.indexer.tables import TABLES, definitions, on_conflict_replace

if TYPE_CHECKING:
    import sqlite3

    from holdfast.indexer.folding import Key, Rows
    from holdfast.indexer.reader import Batch


def prepare(db: sqlite3.Connection, identity: str) -> None:
    """Recreate the tables, unless they were made for an index with this identity."""
    if _identity(db) == identity:
        return
    for name in (*TABLES, "meta"):
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in definitions():
        db.execute(statement)
    db.execute("CREATE TABLE meta (identity TEXT NOT NULL) STRICT")
    db.execute("INSERT INTO meta VALUES (?)", (identity,))


def tip(db: sqlite3.Connection) -> IndexedBlock | None:
    """Return the newest stored block."""
    row = db.execute(f"{BLOCKS} LIMIT 1").fetchone()
    return None if row is None else IndexedBlock(*row)


def blocks(db: sqlite3.Connection) -> list[IndexedBlock]:
    """Return all stored blocks, newest first."""
    return [IndexedBlock(*row) for row in db.execute(BLOCKS)]


def account_addresses(db: sqlite3.Connection) -> list[bytes]:
    """Return the addresses of all accounts."""
    return [address for (address,) in db.execute(ADDRESSES)]


def apply(db: sqlite3.Connection, parent: IndexedBlock | None, batch: Batch, floor: int) -> None:
    """See SqliteIndexStore.apply."""
    _expect(db, parent)
    rows = {key: _row(db, key) for key in folding.keys_of(batch.events)}
    outcome = folding.fold(rows, batch.events, floor)
    _put(db, outcome.changed)
    db.executemany(_INSERT["events"], outcome.events)
    db.executemany(_INSERT["journal"], outcome.journal)
    db.executemany(_INSERT["blocks"], [block for block in batch.blocks if block.number >= floor])
    for statement in FORGET:
        db.execute(statement, (floor,))


def rewind(db: sqlite3.Connection, expected: IndexedBlock, to: IndexedBlock) -> None:
    """See SqliteIndexStore.rewind."""
    _expect(db, expected)
    journal = [JournalRow(*row) for row in db.execute(JOURNAL_ABOVE, (to.number,))]
    _put(db, folding.restored(journal))
    for statement in CUT:
        db.execute(statement, (to.number,))


def reset(db: sqlite3.Connection) -> None:
    """See SqliteIndexStore.reset."""
    for statement in EMPTY:
        db.execute(statement)


def _expect(db: sqlite3.Connection, expected: IndexedBlock | None) -> None:
    if tip(db) != expected:
        raise TipMoved


def _row(db: sqlite3.Connection, key: Key) -> Row | None:
    row = db.execute(SELECT[key[0]], (key[1],)).fetchone()
    return None if row is None else ENTITIES[key[0]](*row)


def _put(db: sqlite3.Connection, rows: Rows) -> None:
    for entity, gone, there in folding.by_entity(rows):
        db.executemany(DELETE[entity], [(key,) for key in gone])
        db.executemany(_UPSERT[entity], there)


def _identity(db: sqlite3.Connection) -> str | None:
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
        return None
    row = db.execute("SELECT identity FROM meta").fetchone()
    return None if row is None else str(row[0])


def _insert(name: str) -> str:
    columns = TABLES[name].columns
    return f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - our own names


_INSERT = {name: _insert(name) for name in TABLES}
_UPSERT = {name: f"{_INSERT[name]} {on_conflict_replace(TABLES[name])}" for name in ENTITIES}
