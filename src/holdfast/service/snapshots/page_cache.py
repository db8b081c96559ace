"""Reads files that are in the kernel's page cache without a thread: there is no disk to wait for."""

from __future__ import annotations

import os

_NOWAIT = getattr(os, "RWF_NOWAIT", 0)  # Linux
_MAX_BYTES = 1024 * 1024  # of a block


def read_cached(path: str) -> bytes | None:
    """Return a file's bytes; None if it is missing, larger than a block, or not entirely in the page cache."""
    if not _NOWAIT:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read(descriptor)
    except OSError:  # BlockingIOError, or a file system without support for this
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes | None:
    size = os.fstat(descriptor).st_size
    if size > _MAX_BYTES:
        return None
    data = bytearray(size)
    return bytes(data) if os.preadv(descriptor, [data], 0, _NOWAIT) == size else None
