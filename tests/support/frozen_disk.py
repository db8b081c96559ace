"""A file system that can be frozen, as a backup of a virtual machine freezes it: every write waits. Needs root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_SIZE = 64 * 1024 * 1024
_PROGRAMS = ("fsfreeze", "mkfs.ext4", "mount", "umount")


def why_not() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    return f"{', '.join(missing)}: not installed" if missing else None


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[Path | None]:
    """Yield a folder on a file system that only the caller uses; None if the kernel does not mount it."""
    image, place = folder / "image", folder / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(_SIZE)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    if subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@contextlib.contextmanager
def frozen(place: Path) -> Iterator[None]:
    """Within the block, let every write to the file system wait."""
    subprocess.run(["fsfreeze", "-f", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", place], check=True)
