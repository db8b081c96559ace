"""Why a file or folder cannot be used, in words for people."""

from __future__ import annotations

import errno
import os

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
UNUSABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EROFS, errno.EIO}
)
_WORDS = {
    errno.ENOENT: "the system lets no one make it there",
    errno.EEXIST: "a file has this name",
    errno.ENOTDIR: "a file has a folder's name",
    errno.EROFS: "the disk is mounted read-only",
    errno.ENOSPC: "the disk is full",
    errno.EFBIG: "the file may not become larger",
    errno.EDQUOT: "this user's share of the disk is used up",
    errno.EIO: "the disk fails",
}


def file_words(error: OSError) -> str:
    """Return why nothing could be written or read."""
    if error.errno in {errno.EACCES, errno.EPERM}:
        return f"user {os.geteuid()} is not allowed to" if hasattr(os, "geteuid") else "this user is not allowed to"
    return _WORDS.get(error.errno or 0) or (error.strerror or "").lower() or str(error) or "the system gives no reason"
