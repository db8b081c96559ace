"""The SQL statements of both databases, which differ only in their placeholders; derived from the table definitions.

All SQL here consists of constants from this package. Only bound values vary.
"""
# ruff: noqa: S608 - see above

from __future__ import annotations

from holdfast.indexer.queries import ALIAS_BY_HASH, fill
from holdfast.indexer.rows import ENTITIES
from holdfast.indexer.tables import TABLES

BLOCKS = "SELECT number, hash FROM blocks ORDER BY number DESC"
ADDRESSES = "SELECT account_address FROM accounts"
EMPTY = tuple(f"DELETE FROM {name}" for name in TABLES)
SELECT = {
    name: f"SELECT {', '.join(TABLES[name].columns)} FROM {name} WHERE {TABLES[name].key[0]} =" for name in ENTITIES
}
DELETE = {name: f"DELETE FROM {name} WHERE {TABLES[name].key[0]} =" for name in ENTITIES}

_JOURNAL_ABOVE = (
    "SELECT block_number, entity, key, before FROM journal WHERE block_number > {} ORDER BY block_number DESC"
)
_FORGET = ("DELETE FROM journal WHERE block_number <= {}", "DELETE FROM blocks WHERE number < {}")
_CUT = (
    "DELETE FROM events WHERE block_number > {}",
    "DELETE FROM journal WHERE block_number > {}",
    "DELETE FROM blocks WHERE number > {}",
)


class Statements:
    """The statements with the placeholders of one database.

    Attributes:
        by_key: finds a row of each entity by its key.
        alias_by_hash: finds an alias with the controller of its DID.
        journal_above: how to undo what came after a block, newest first.
        forget: delete what is too deep to be undone, given the floor.
        cut: delete what came after a block.
    """

    def __init__(self, *, numbered: bool) -> None:
        self.by_key = {name: fill(f"{text} {{}}", numbered) for name, text in SELECT.items()}
        self.alias_by_hash = fill(ALIAS_BY_HASH, numbered)
        self.journal_above = fill(_JOURNAL_ABOVE, numbered)
        self.forget = tuple(fill(text, numbered) for text in _FORGET)
        self.cut = tuple(fill(text, numbered) for text in _CUT)


SQLITE = Statements(numbered=False)
POSTGRES = Statements(numbered=True)
