"""One process at a time: an advisory lock on a file next to the store, released by the system when the process ends."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


NOT_THROUGH_A_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag


class FileLock:
    """Held from construction until `release`. Raises StorageError where another holder lives."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | NOT_THROUGH_A_LINK | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file)
        except OSError as error:
            os.close(self._file)
            raise StorageError("the vault store is open in another process") from error

    @property
    def descriptor(self) -> int:
        """The open file: a child that inherits it keeps the lock for as long as it lives."""
        return self._file

    def release(self) -> None:
        """Let the next one in. Releasing again is harmless."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


if sys.platform == "win32":  # pragma: no cover - only one of the two can run

    def _lock(file: int) -> None:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:

    def _lock(file: int) -> None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
