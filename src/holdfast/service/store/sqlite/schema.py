"""Opens the embedded store's file and brings its schema up to date."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from holdfast.service.store.database import OtherChain, SchemaTooNew
from holdfast.service.store.sqlite.migrations import MIGRATIONS, SCHEMA_VERSION
from holdfast.service.store.sqlite.progress import progress_logged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_TIMEOUT_MS = 5000
# The maximum size of each connection's page cache; SQLite's default of 2 MB is enough for only 4,000 registrations.
CACHE_KIB = 16 * 1024
# How many pages the log may contain before a commit copies them to the database. A page that many commits change is
# copied only once. With 4,000 pages the log grows to 16 MB; SQLite's default is 1,000 pages or 4 MB.
CHECKPOINT_PAGES = 4000
# What remains of a log that grew far longer during a long read, such as an export, when the log begins anew.
LOG_BYTES = 2 * CHECKPOINT_PAGES * 4096


def connect(file: Path) -> sqlite3.Connection:
    """Open a connection in autocommit mode with the pragmas for durability and speed.

    The file is made readable only by its owner; SQLite gives the -wal and -shm files the same mode.
    """
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False, cached_statements=256)
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    # A larger cache, or a memory map, makes look-ups no faster. With a map, a truncated file or an unreadable page
    # kills the process (SIGBUS), where a read fails with 503.
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the file's schema version; 0 for a new file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """Yield a script's statements; a trigger's body, which contains semicolons, stays in one piece."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def migrate(connection: sqlite3.Connection) -> int:
    """Migrate the file to this release's schema; returns the schema version that it had before. Raises SchemaTooNew.

    All steps run in one transaction, which waits for other writers, so several processes may start at the same time.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = schema_version(connection)
        if found > SCHEMA_VERSION:
            raise SchemaTooNew(found, SCHEMA_VERSION)
        for number, step in enumerate(MIGRATIONS[found:], found + 1):
            with progress_logged(connection, number, SCHEMA_VERSION):
                for statement in _statements(step):
                    connection.execute(statement)
        if found != SCHEMA_VERSION:  # a file that is current is opened on a full disk, too
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        if connection.in_transaction:  # if the disk is full, SQLite has already rolled back
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return found


def chain_of(connection: sqlite3.Connection) -> int | None:
    """Return the ID of the chain that the file belongs to; None if it belongs to none yet."""
    found = connection.execute("SELECT value FROM totals WHERE name = 'chain'").fetchone()
    return None if found is None else int(found[0])


def keep_chain(connection: sqlite3.Connection, chain: int) -> None:
    """Let the file belong to a chain, unless it belongs to one. Raises OtherChain."""
    if chain_of(connection) is None:  # a file that has one is opened on a full disk, too
        connection.execute("INSERT INTO totals VALUES ('chain', ?) ON CONFLICT DO NOTHING", (chain,))
    found = chain_of(connection)
    if found is not None and found != chain:
        raise OtherChain(found, chain)
