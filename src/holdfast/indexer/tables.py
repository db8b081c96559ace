"""The tables of the index, with columns, keys and indexes. The store derives its SQL from these definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.indexer.rows import ENTITIES, Event, IndexedBlock, JournalRow

if TYPE_CHECKING:
    from collections.abc import Iterator

# Increase this version when a definition below changes. An index with a different version is rebuilt from the chain.
SCHEMA_VERSION = 4

BYTES, WHOLE, TEXT = "BLOB", "INTEGER", "TEXT"

KINDS = {
    "hash": BYTES,
    "did_hash": BYTES,
    "alias_hash": BYTES,
    "block_hash": BYTES,
    "tx_hash": BYTES,
    "controller": BYTES,
    "previous_controller": BYTES,
    "proposed_controller": BYTES,
    "account_address": BYTES,
    "owner_address": BYTES,
    "key_owner": BYTES,
    "id": BYTES,
    "key": BYTES,
    "before": BYTES,
    "active": WHOLE,
    "generation": WHOLE,
    "number": WHOLE,
    "block_number": WHOLE,
    "log_index": WHOLE,
    "dids": WHOLE,
    "active_dids": WHOLE,
    "aliases": WHOLE,
    "accounts": WHOLE,
    "kind": TEXT,
    "entity": TEXT,
    "metadata_cid": TEXT,
}

_ORDER = ("block_number", "log_index")


class Table(NamedTuple):
    """A table: the type of its rows, its key, and the columns that may be NULL."""

    name: str
    row: Any
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()
    optional: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the row's fields."""
        return tuple(self.row._fields)


_OPTIONAL_OF_EVENTS = frozenset(Event._field_defaults)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("dids", ENTITIES["dids"], ("did_hash",), (_ORDER, ("controller", *_ORDER), ("active", *_ORDER))),
        Table("aliases", ENTITIES["aliases"], ("alias_hash",), (_ORDER, ("did_hash", *_ORDER), ("active", *_ORDER))),
        Table(
            "accounts",
            ENTITIES["accounts"],
            ("account_address",),
            (_ORDER, ("owner_address", *_ORDER)),
        ),
        Table("owners", ENTITIES["owners"], ("id",), (("key_owner", "account_address", "generation"),)),
        Table("totals", ENTITIES["totals"], ("id",)),
        # All lists are in chain order, so every index ends with the chain position and no result needs sorting.
        Table(
            "events",
            Event,
            _ORDER,
            tuple(
                (column, *_ORDER)
                for column in (
                    "kind",
                    "did_hash",
                    "alias_hash",
                    "controller",
                    "account_address",
                    "owner_address",
                    "key_owner",
                    "active",
                )
            ),
            _OPTIONAL_OF_EVENTS,
        ),
        Table("blocks", IndexedBlock, ("number",)),
        Table("journal", JournalRow, ("block_number", "entity", "key"), (), frozenset({"before"})),
    )
}


def definitions() -> Iterator[str]:
    """Return the statements that create all tables and indexes."""
    for table in TABLES.values():
        columns = [
            f"{column} {KINDS[column]}{'' if column in table.optional else ' NOT NULL'}" for column in table.columns
        ]
        yield f"CREATE TABLE {table.name} ({', '.join(columns)}, PRIMARY KEY ({', '.join(table.key)})) STRICT"
        for index in table.indexes:
            # A partial index leaves out NULL, because most events leave most columns NULL and no query selects NULL.
            where = f" WHERE {index[0]} IS NOT NULL" if index[0] in table.optional else ""
            name = f"{table.name}_by_{index[0]}"
            yield f"CREATE INDEX {name} ON {table.name} ({', '.join(index)}){where}"


def on_conflict_replace(table: Table) -> str:
    """Return the clause that turns an INSERT into an upsert by the table's key."""
    rest = [column for column in table.columns if column not in table.key]
    changes = ", ".join(f"{column} = excluded.{column}" for column in rest)
    return f"ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {changes}"
