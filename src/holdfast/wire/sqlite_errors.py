"""Why an SQLite file cannot be used, in words for people."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.wire.file_errors import NO_ROOM

if TYPE_CHECKING:
    from pathlib import Path

_PRIMARY_CODE = 0xFF
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_FULL_BELOW_BYTES = 64 * 1024  # less than what SQLite needs to open a file; what it undoes is room again


def error_words(error: sqlite3.Error, *files: Path) -> str:
    """Return SQLite's text, and the folders of these files whose disk is full.

    SQLite says neither which disk is full nor always that one is: without room to open a database, it says
    "disk I/O error".
    """
    if _primary_code(error) not in _FULL:
        return str(error)
    full = dict.fromkeys(str(file.parent) for file in files if _is_full(file.parent))
    return f"{error}: no room is left on the disk of {' and '.join(full)}; make room there" if full else str(error)


def is_of_disk(error: BaseException | None) -> bool:
    """Return whether an error of SQLite or of the file system comes from a disk that is full or fails."""
    if isinstance(error, sqlite3.Error):
        return _primary_code(error) in _FULL
    return isinstance(error, OSError) and error.errno in NO_ROOM


def is_in_use(error: sqlite3.Error) -> bool:
    """Return whether another connection has the file open."""
    return _primary_code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def _is_full(folder: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _FULL_BELOW_BYTES
    return False
