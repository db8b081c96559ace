"""The folder through which the processes of one service share their counters.

It lies among the temporary files, and whoever ends in order removes it. A service that was killed cannot, so the next
one that starts sweeps what is left: folders of this name and this user whose lock nobody holds. The system frees a
lock with the last process that has it, however that one ends; forked workers have it too.
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
    """A new folder of this service alone, mode 0700; gone at the end. Raises OSError where none can be made."""
    sweep()
    folder, lock = _made()
    try:
        yield folder
    finally:
        _remove(folder, lock)


def sweep() -> None:
    """Remove the folders that services of this user left behind."""
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
        with suppress(OSError):  # a service that starts at this moment may have swept it before it had its lock
            folder.rmdir()
    return Path(tempfile.mkdtemp(prefix=PREFIX)), None  # a file system without locks: nothing is swept there either


def _lock(folder: Path) -> int | None:
    """The locked folder's descriptor; None unless it is a folder of this user, still there, that nobody holds."""
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
        pass  # held by somebody, or removed meanwhile
    os.close(descriptor)
    return None


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
