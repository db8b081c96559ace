"""Checks that the embedded database accepts writes, by making a write that reaches the disk and rolling it back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.wire.sqlite_errors import error_words

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN_BYTES = 1024 * 1024
_WAIT_S = 5.0
_CACHE_PAGES = 8  # far fewer than are written, so that SQLite writes them out before the transaction ends


def try_write(file: Path) -> None:
    """Write `WRITTEN_BYTES` within a transaction and roll it back. Raises StoreUnavailable if that fails.

    The check takes a few milliseconds, during which other writers wait, and the log file (`-wal`) may stay larger.
    """
    try:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=_WAIT_S)) as connection:
            _write_and_undo(connection)
    except sqlite3.Error as error:
        raise StoreUnavailable(f"{file.name}: {error_words(error, file)}") from error


def _write_and_undo(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA cache_size = {_CACHE_PAGES}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("CREATE TABLE holdfast_check (content BLOB)")
        connection.execute("INSERT INTO holdfast_check VALUES (zeroblob(?))", (WRITTEN_BYTES,))
    finally:
        if connection.in_transaction:  # if the disk is full, SQLite has already rolled back
            connection.execute("ROLLBACK")
