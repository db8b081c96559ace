"""An advisory lock on a file next to the store, which one process can hold at a time.

The lock is released when the process ends.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


NOT_THROUGH_A_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag


class FileLock:
    """An advisory lock on a file, held from construction until `release`.

    With `wait`, construction waits until the lock is free; else raises StorageError if another process holds it.
    """

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | NOT_THROUGH_A_LINK | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _lock(self._file, wait=wait)
        except OSError as error:
            os.close(self._file)
            raise StorageError(
                "the vault store is open already, in this program or another: close it there first"
            ) from error

    @property
    def descriptor(self) -> int:
        """The lock file's descriptor.

        A child process that inherits the descriptor also holds the lock, until the child ends.
        """
        return self._file

    def release(self) -> None:
        """Release the lock. Repeated calls have no effect."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


if sys.platform == "win32":  # each platform runs only one of the two

    def _lock(file: int, *, wait: bool) -> None:
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:

    def _lock(file: int, *, wait: bool) -> None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
