"""The mark on a file whose rows were all moved to PostgreSQL: no service starts on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.wire.sqlite_errors import error_words

if TYPE_CHECKING:
    from pathlib import Path

_MARK = 0x48464D56  # "HFMV", in the header's field for the application's use


def has_mark(connection: sqlite3.Connection) -> bool:
    """Return whether the open file is marked."""
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == _MARK)


def mark(connection: sqlite3.Connection, *, moved: bool) -> None:
    """Set or remove the mark, as a part of the connection's transaction."""
    connection.execute(f"PRAGMA application_id = {_MARK if moved else 0}")


def is_moved(file: Path) -> bool:
    """Return whether the file is marked. Raises StoreUnavailable."""
    with closing(_open(file)) as connection:
        return has_mark(connection)


def take_back(file: Path) -> bool:
    """Remove the mark, so that a service may start on the file again; False without one. Raises StoreUnavailable."""
    with closing(_open(file)) as connection:
        if not has_mark(connection):
            return False
        try:
            mark(connection, moved=False)
        except sqlite3.DatabaseError as error:
            raise StoreUnavailable(f"{file.name}: {error_words(error, file)}") from error
        return True


def refuse_moved(connection: sqlite3.Connection, file: Path) -> None:
    """Raise StoreUnavailable if the open file is marked."""
    if has_mark(connection):
        raise StoreUnavailable(
            f"everything in {file.name} was moved to PostgreSQL: set HOLDFAST_DATABASE_URL to that database, or use"
            " this file again with holdfast migrate --back"
        )


def _open(file: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        has_mark(connection)
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(f"{file.name}: {error_words(error, file)}") from error
    return connection
