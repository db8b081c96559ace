"""Logs that a migration is still running.

The migration of a large file takes minutes, and silence would look like a hang.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

_log = logging.getLogger("holdfast.store")
EVERY_S = 5.0
INSTRUCTIONS = 1_000_000  # of SQLite's machine between two looks at the clock: some ten milliseconds


@contextmanager
def progress_logged(connection: sqlite3.Connection, step: int, of: int) -> Iterator[None]:
    """Log every five seconds that this step of the migration is still running."""
    began = said = time.monotonic()

    def look() -> int:
        nonlocal said
        now = time.monotonic()
        if now - said >= EVERY_S:
            said = now
            _log.info(
                "the database's schema is being migrated", extra={"step": step, "of": of, "seconds": round(now - began)}
            )
        return 0  # continue

    connection.set_progress_handler(look, INSTRUCTIONS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
