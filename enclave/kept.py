"""Built files in the user's cache. A file counts only with its digest next to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY_S = 86_400


def holds(file: Path) -> bool:
    """Return whether `file` is complete. A damaged one, for example after a full disk, is built again."""
    with contextlib.suppress(FileNotFoundError):
        return _digest_of(file).read_text() == sha256(file)
    return False


def keep(made: Path, file: Path) -> None:
    """Move `made` to `file`; the digest last, so that an interrupted call leaves nothing that counts."""
    digest = sha256(made)
    made.replace(file)
    copy_text(digest, _digest_of(file))


def copy(source: Path, target: Path) -> None:
    """Put a copy in place in one step, so that parallel builds do not interfere."""
    with _beside(target) as temporary:
        shutil.copyfile(source, temporary)
        temporary.replace(target)


def copy_text(text: str, target: Path) -> None:
    """Write a text to `target` in one step, as `copy` does with a file."""
    with _beside(target) as temporary:
        temporary.write_text(text)
        temporary.replace(target)


@contextlib.contextmanager
def scratch(cache: Path) -> Iterator[Path]:
    """A directory in the cache for as long as the context lasts."""
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as directory:
        yield Path(directory)


def forget_outlived(cache: Path, now: float | None = None) -> None:
    """Remove what no build has made for a month, and leftovers of stopped builds after a day. `now` in seconds."""
    now = time.time() if now is None else now
    for file in cache.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another build has ended meanwhile
            _forget(file, now - file.stat().st_mtime)


def _forget(file: Path, age: float) -> None:
    if file.name.startswith("build-") and age > DAY_S:
        shutil.rmtree(file, ignore_errors=True)
    elif file.suffix in {".wasm", ".o", ".sha256"} and age > 30 * DAY_S:
        file.unlink()


def sha256(file: Path) -> str:
    """The file's SHA-256 in hex."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _digest_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A unique name in the target's directory; the file is removed afterwards."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}-")
    os.close(handle)
    temporary = Path(name)
    temporary.chmod(0o644)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
