"""Checks that the database's files are still the ones that were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path


class OpenedFiles:
    """The database and its log as they were when opened.

    SQLite goes on writing to files that have lost their name: everything it calls stored would be gone at the next
    start. So they are looked at around each commit, which takes microseconds where a flush of the disk takes far more.
    """

    def __init__(self, file: Path) -> None:
        self._paths = (file, file.with_name(file.name + "-wal"))
        self._opened = self._look()

    def verify(self) -> None:
        """Raise StoreUnavailable when a file was deleted, moved or replaced since."""
        if self._look() != self._opened:
            raise StoreUnavailable("the database file was deleted, moved or replaced while open: restart the service")

    def _look(self) -> list[tuple[int, int]]:
        return [_inode(path) for path in self._paths]


def _inode(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino
