"""Reads and writes files that, from the moment of their creation, only their owner can read."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def write_private(file: Path, data: bytes, *, replace: bool = True) -> None:
    """Write a file with mode 0600, completely or not at all.

    Raises ValueError if something other than a file is in its place (links are not followed), if it exists and may not
    be replaced, and if it cannot be written.
    """
    try:
        _refuse_others(file, replace=replace)
        descriptor, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # exclusive, mode 0600
        with _gone_unless_done(Path(partial)), os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
            _put(Path(partial), file, replace=replace)
    except OSError as error:
        raise ValueError(f"{file} cannot be written ({error.strerror})") from error


def read_private(file: Path) -> bytes:
    """Return the contents of a file, which this user must own and which must not be a link.

    Raises OSError otherwise.
    """
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode) or not _is_own(found):
            raise PermissionError(f"{file} is not a file of this user's")
        return stream.read()


def read_named(file: Path) -> bytes:
    """Return the contents of a file that the user named; anyone may own it. Raises ValueError if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from error


def private_folder(folder: Path) -> Path:
    """Return the folder, creating it with mode 0700 if it is missing. Raises ValueError if others can read it."""
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise ValueError(f"{folder} cannot be used ({error.strerror})") from error
    readable = os.name == "posix" and found.st_mode & _OTHERS
    if not stat.S_ISDIR(found.st_mode) or not _is_own(found) or readable:
        raise ValueError(f"{folder} is not a folder of this user's alone")
    return folder


def _refuse_others(file: Path, *, replace: bool) -> None:
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise ValueError(f"{file} is a link, a device or a folder: name a file")
    if not replace:
        raise ValueError(f"{file} is there already")


def _put(partial: Path, file: Path, *, replace: bool) -> None:
    if replace or not hasattr(os, "link"):
        partial.replace(file)
    else:
        _link(partial, file)


def _link(partial: Path, file: Path) -> None:
    """Put the file in a place that must be free. Raises FileExistsError if another process was faster."""
    try:
        os.link(partial, file)
    except FileExistsError:
        raise
    except OSError:  # FAT and exFAT have no links: take the place, then put the file there
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            partial.replace(file)
        except OSError:
            file.unlink()
            raise
    else:
        partial.unlink()


@contextmanager
def _gone_unless_done(partial: Path) -> Iterator[None]:
    try:
        yield
    finally:
        partial.unlink(missing_ok=True)


def _is_own(found: os.stat_result) -> bool:
    return os.name != "posix" or found.st_uid == os.geteuid()
