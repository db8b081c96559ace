"""The SQL statements, derived from the table definitions.

All SQL here consists of constants from this package. Only bound values vary.
"""
# ruff: noqa: S608 - see above

from __future__ import annotations

from holdfast.indexer.rows import ENTITIES
from holdfast.indexer.tables import TABLES

BLOCKS = "SELECT number, hash FROM blocks ORDER BY number DESC"
ADDRESSES = "SELECT account_address FROM accounts"
EMPTY = tuple(f"DELETE FROM {name}" for name in TABLES)
# Finds, and deletes, a row of each entity by its key.
SELECT = {
    name: f"SELECT {', '.join(TABLES[name].columns)} FROM {name} WHERE {TABLES[name].key[0]} = ?" for name in ENTITIES
}
DELETE = {name: f"DELETE FROM {name} WHERE {TABLES[name].key[0]} = ?" for name in ENTITIES}

# How to undo what came after a block, newest first.
JOURNAL_ABOVE = (
    "SELECT block_number, entity, key, before FROM journal WHERE block_number > ? ORDER BY block_number DESC"
)
# Delete what is too deep to be undone, given the floor.
FORGET = ("DELETE FROM journal WHERE block_number <= ?", "DELETE FROM blocks WHERE number < ?")
# Delete what came after a block.
CUT = (
    "DELETE FROM events WHERE block_number > ?",
    "DELETE FROM journal WHERE block_number > ?",
    "DELETE FROM blocks WHERE number > ?",
)
