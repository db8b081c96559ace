"""Reads files in the kernel's page cache without a thread, because there is no disk to wait for."""

from __future__ import annotations

import os

_preadv = getattr(os, "preadv", None)
_NOWAIT = getattr(os, "RWF_NOWAIT", 0)  # Linux
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
_BEYOND = bytearray(1)  # takes what a longer file has behind its expected end


def read_cached(path: str, into: memoryview) -> bool:
    """Fill `into` with a file's bytes. False if it is missing, of another size, or not wholly in the page cache."""
    if not _NOWAIT or _preadv is None:
        return False
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        read: int = _preadv(descriptor, [into, _BEYOND], 0, _NOWAIT)
        return read == len(into)
    except OSError:  # BlockingIOError, or a file system without support for this
        return False
    finally:
        os.close(descriptor)
