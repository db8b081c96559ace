"""Reads and changes databases directly, as a damaged disk or another program would."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from holdfast.client.storage.vault_store import VaultStore


def in_store(store: VaultStore, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that is executed in the store's file over another connection."""
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()
