"""A local world's folder: a temporary one, or the one given by `--state`, which a single world can use at a time."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from holdfast.client.storage.file_lock import FileLock
from holdfast.wire.client_errors import StorageError
from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX = "holdfast-dev-"


class Home(NamedTuple):
    """A world's folder, and the descriptors of its lock.

    The world's programs inherit the descriptors, and so keep the folder locked.
    """

    folder: Path
    locks: tuple[int, ...] = ()


@contextlib.contextmanager
def home(state: Path | None) -> Iterator[Home]:
    """Provide the folder of a world while the world is running. Raises WorldError if `state` is unusable or in use."""
    if state is None:
        remove_abandoned(Path(tempfile.gettempdir()))
        with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
            yield Home(Path(folder))
        return
    lock = _lock(state)
    try:
        yield Home(state.resolve(), (lock.descriptor,))
    finally:
        lock.release()


def _lock(state: Path) -> FileLock:
    """Lock the folder. Two worlds in one folder would overwrite each other's transactions and share a database."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(state / "lock")
    except OSError as error:
        raise WorldError(f"cannot use {state}: {error.strerror}") from None
    except StorageError:
        raise WorldError(f"another holdfast dev runs on {state}: stop it, or choose another --state") from None


def chain_state(state: Path | None) -> Path | None:
    """Check and return the file in which the chain saves its state.

    Back up the file if it is undamaged.

    Raises WorldError if the file is damaged, which happens if the chain is killed while writing it.
    """
    if state is None:
        return None
    path = state.resolve() / "chain.json"
    last = path.with_name("chain.json.last")
    with contextlib.suppress(FileNotFoundError):
        _require_whole(path, last)
        shutil.copyfile(path, last)
    return path


def _require_whole(path: Path, last: Path) -> None:
    try:
        msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError:
        back = f"put back {last.name}, its state at the last start" if last.exists() else "remove it"
        raise WorldError(
            f"{path} is damaged: {back}, or begin anew with another --state (what this one holds then stays unused)"
        ) from None


def remove_abandoned(parent: Path) -> None:
    """Remove the temporary folders of any worlds whose process was killed before it could clean up."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdecimal() and not _lives(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True
