"""Checks that the database's files are still the files that were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path


class OpenedFiles:
    """The identities that the database file and its log had when they were opened.

    SQLite continues to write to deleted files: everything that it reports as stored would be gone at the next start.
    The files are therefore checked before and after each commit. This check takes microseconds, far less than a disk
    flush.
    """

    def __init__(self, file: Path) -> None:
        self._paths = (file, file.with_name(file.name + "-wal"))
        self._opened = self._look()

    def verify(self) -> None:
        """Raise StoreUnavailable if a file was deleted, moved or replaced after it was opened."""
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
