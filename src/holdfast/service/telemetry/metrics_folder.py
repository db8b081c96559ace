"""The folder in which the processes of a service share their counters.

The folder is in the system's temporary folder and is removed at shutdown. A killed service cannot remove its folder, so
the next start removes leftovers: those of this user's folders that have such a name and that no process has locked.
Forked workers inherit the descriptor of the lock; the system releases the lock when the last of them ends, even if it
is killed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "holdfast-metrics-"
_TRIES = 3


@contextmanager
def metrics_folder() -> Iterator[Path]:
    """Create a folder for this service, mode 0700, which is removed at exit. Raises OSError if that fails."""
    sweep()
    folder, lock = _made()
    try:
        yield folder
    finally:
        _remove(folder, lock)


def sweep() -> None:
    """Remove the folders that this user's earlier services left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        lock = _lock(folder)
        if lock is not None:
            _remove(folder, lock)


def _made() -> tuple[Path, int | None]:
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = _lock(folder)
        if lock is not None:
            return folder, lock
        with suppress(OSError):  # another service that is starting may have removed it before it was locked
            folder.rmdir()
    return Path(tempfile.mkdtemp(prefix=PREFIX)), None  # on a file system without locks, leftovers are never removed


def _lock(folder: Path) -> int | None:
    """Lock the folder and return its descriptor; None if it is another user's, no longer exists, or is locked."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        if status.st_uid == os.geteuid() and os.path.samestat(status, folder.lstat()):
            return descriptor
    except OSError:
        pass  # locked by another process, or removed in the meantime
    os.close(descriptor)
    return None


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
