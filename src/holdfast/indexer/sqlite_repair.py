"""Renames a damaged index file, so that the index is rebuilt from the chain, which has all its data."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from pathlib import Path

log = logging.getLogger("holdfast.indexer")

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE = 0xFF  # SQLite's extended result codes have the primary code in their lowest byte


def is_damage(error: BaseException) -> bool:
    """Return whether the error says that the file is damaged or is not a SQLite database."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _DAMAGE


def put_aside(path: Path) -> None:
    """Rename the file, which may belong to another program, to `<name>.damaged`, replacing any file of that name."""
    aside = path.with_name(f"{path.name}.damaged")
    with contextlib.suppress(FileNotFoundError):
        path.replace(aside)
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    log.warning("indexer: the index was damaged: it is now %s, and is built again from the chain", aside)


def file_number(path: Path) -> int | None:
    """Return the file's inode number, which shows whether the file was replaced; None if there is no file."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
