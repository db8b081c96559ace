"""A store of the indexer that ends just before or after its n-th commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.indexer.sqlite_store import SqliteIndexStore


class CrashingStore(SqliteIndexStore):
    """A store that calls `crash` in the n-th commit, before or after the database has committed."""

    def __init__(self, path: Path, crash_in: int, *, after: bool, crash: Callable[[], None]) -> None:
        super().__init__(path)
        self.crash_in, self.after, self.crash = crash_in, after, crash

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with super()._transaction() as db:
            yield db
            self.crash_in -= 1
            if self.crash_in == 0 and not self.after:
                self.crash()
        if self.crash_in == 0:
            self.crash()
