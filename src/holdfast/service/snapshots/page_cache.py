"""Reads files that are in the kernel's page cache. No thread is needed, because such reads do not wait for the disk."""

from __future__ import annotations

import os

preadv = getattr(os, "preadv", None)  # Unix
NOWAIT = getattr(os, "RWF_NOWAIT", 0)  # Linux
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
_BEYOND = bytearray(1)  # takes what a longer file has behind its expected end


def read_cached(path: str, into: memoryview) -> bool:
    """Fill `into` with a file's bytes; False if it is missing, has a different size, or is not entirely cached."""
    if not NOWAIT or preadv is None:
        return False
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        read: int = preadv(descriptor, [into, _BEYOND], 0, NOWAIT)
        return read == len(into)
    except OSError:  # BlockingIOError, or a file system without support for this
        return False
    finally:
        os.close(descriptor)
