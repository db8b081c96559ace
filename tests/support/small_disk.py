"""A disk that a test can fill."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A file system of 6 MiB, or None if this user may not mount one."""
    with mounted(tmp_path / "small", 6) as folder:
        yield folder


@contextlib.contextmanager
def mounted(folder: Path, mib: int) -> Iterator[Path | None]:
    """Mount a file system of this size on a new folder; yield None if this user may not."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield folder if mounted else None
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("ab", buffering=0) as stream:
        while stream.write(bytes(4096)):
            pass
    return filler
