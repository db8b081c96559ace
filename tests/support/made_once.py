"""Shares read-only files that take a long time to create: one worker of a parallel run creates them for all others.

What follows from the sources alone is kept in the user's cache, for later runs and other checkouts, until the sources change.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

MADE = Path(os.environ.get("HOLDFAST_CACHE_DIR") or Path.home() / ".cache" / "holdfast") / "tests"
RETENTION_S = 30 * 86_400  # since a run last used it


def made_of(sources: Iterable[Path], name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder with the given name, filled by `make` once for the present content of `sources`."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    MADE.mkdir(parents=True, exist_ok=True)
    folder = _filled(MADE, f"{name}-{digest.hexdigest()[:32]}", make)
    os.utime(folder)
    _forget_unused()
    return folder


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the test run's folder with the given name, after `make` has filled it once."""
    run = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent  # a worker's folder is inside the run's
    return _filled(run, name, make)


def _filled(run: Path, name: str, make: Callable[[Path], object]) -> Path:
    folder, unfinished = run / name, run / f"{name}.unfinished"
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


def _forget_unused() -> None:
    for each in MADE.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another run was faster
            if time.time() - each.stat().st_mtime > RETENTION_S:
                shutil.rmtree(each) if each.is_dir() else each.unlink()
