"""A damaged index file is put aside and built again: all that it held is on the chain."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from pathlib import Path

log = logging.getLogger("holdfast.indexer")

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE = 0xFF  # SQLite's extended result codes keep it in their lowest byte


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file itself is not, or no longer, a database."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _DAMAGE


def put_aside(path: Path) -> None:
    """Rename the file, which may be another program's, to `<name>.damaged`; an older one of that name goes."""
    aside = path.with_name(f"{path.name}.damaged")
    with contextlib.suppress(FileNotFoundError):
        path.replace(aside)
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    log.warning("indexer: the index was damaged: it is now %s, and is built again from the chain", aside)


def file_number(path: Path) -> int | None:
    """What tells the file from another one of that name; None without a file."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
