"""The file of a vault store: its schema, how it is opened, and how data is deleted from it for good."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from holdfast.client.storage.file_lock import NOT_THROUGH_A_LINK
from holdfast.client.storage.sealed_header import did_of, is_sealed_vault
from holdfast.client.storage.snapshots import blocks_of
from holdfast.wire.client_errors import PluginCallError, StorageError
from holdfast.wire.file_errors import file_words
from holdfast.wire.sqlite_errors import error_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE revisions (
    did TEXT NOT NULL, revision INTEGER NOT NULL, manifest TEXT NOT NULL, sealed BLOB NOT NULL,
    UNIQUE (did, revision)
) STRICT;
CREATE TABLE blocks (cid TEXT PRIMARY KEY NOT NULL, data BLOB NOT NULL) STRICT;
CREATE TABLE notes (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT;
"""


def opened(path: Path) -> sqlite3.Connection:
    """Open or create a store's file, migrate its schema and empty its journal. Raises StorageError."""
    # The file's mode is set before SQLite opens the file, and SQLite gives its journal the same mode.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NOT_THROUGH_A_LINK, 0o600)
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA secure_delete = ON")
        _migrate(database)
        empty_journal(database)  # a killed process may have left deleted data in it
    except BaseException:
        database.close()
        raise
    return database


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Open a store's file that nothing can change, without making files next to it. Raises StorageError."""
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        raise StorageError(f"{journal} has changes that a command first has to store, which may write here")
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
    )


def _migrate(database: sqlite3.Connection) -> None:
    version = number_of(database.execute("PRAGMA user_version"))
    if version > _SCHEMA_VERSION:
        raise StorageError("the vault store was written by a newer release")
    if version == 0:
        database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;")


def forget_blocks(database: sqlite3.Connection, did: str) -> None:
    """Delete the blocks of a vault's snapshots: roots, the blocks they link to, and sealed vaults without a root."""
    gone: set[str] = set()
    for cid in [row[0] for row in database.execute("SELECT cid FROM blocks")]:
        data = bytes(database.execute("SELECT data FROM blocks WHERE cid = ?", (cid,)).fetchone()[0])
        gone |= {cid} if _begins_a_vault(did, data) else blocks_of(did, {cid: data})
    database.executemany("DELETE FROM blocks WHERE cid = ?", [(cid,) for cid in gone])


def forget_notes(database: sqlite3.Connection, did: str) -> None:
    """Delete the notes about a vault, except which snapshot is published and whether older ones must be unpinned."""
    published, forgotten = f"snapshots:{did}", forgotten_note(did)
    database.execute("DELETE FROM notes WHERE instr(name, ?) AND name NOT IN (?, ?)", (f":{did}", published, forgotten))
    # The revisions of an imported vault start again, so nothing may be compared with the deleted vault's.
    database.execute(
        "UPDATE notes SET value = json_object('did', ?, 'acknowledged_root',"
        " json_extract(value, '$.acknowledged_root'), 'sent_root', json_extract(value, '$.sent_root'),"
        " 'sequence', ifnull(json_extract(value, '$.sequence'), 0)) WHERE name = ?",
        (did, published),
    )
    database.execute("UPDATE notes SET value = '0' WHERE name = ?", (forgotten,))


def forgotten_note(did: str) -> str:
    """Return the name of the note that records the first revision that a removed key cannot unlock."""
    return f"forgotten-before:{did}"


def _begins_a_vault(did: str, data: bytes) -> bool:
    try:
        return is_sealed_vault(data) and did_of(data) == did
    except PluginCallError:
        return False


def empty_journal(database: sqlite3.Connection) -> None:
    """Remove deleted data from the file's journal. Raises StorageError if another connection prevents it."""
    busy = number_of(database.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    if busy:
        raise StorageError("the store's journal is in use and still holds what was forgotten")


def number_of(cursor: sqlite3.Cursor) -> int:
    """Return the single number that a statement returned; 0 for NULL."""
    return int(cursor.fetchone()[0] or 0)


@contextlib.contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Raise StorageError for an error of SQLite or of the file system."""
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"the vault's file cannot be used: {error_words(error, path)}") from error
    except OSError as error:
        what = error.filename or "the vault's file"
        raise StorageError(f"{what} cannot be used: {file_words(error)}") from error
