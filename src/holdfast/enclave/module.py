"""The module's file, and the machine code compiled from it, kept so that a start takes milliseconds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import wasmtime

from holdfast.wire.client_errors import WasmLoadError

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN_ONLY = 0o700
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def bundled() -> Path:
    """The file of the enclave that this package carries: what the service serves and the client runs."""
    return Path(__file__).with_name("enclave.wasm")


@cache
def bundled_sha256() -> str:
    """SHA-256 of the bundled module in hex: `VaultManifest.wasmVersion`. Raises WasmLoadError without the file."""
    return hashlib.sha256(_read(bundled())).hexdigest()


@cache
def engine() -> wasmtime.Engine:
    """The process's one engine: code compiled for it serves every instance; epochs bound the time of a call."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    return wasmtime.Engine(config)


@lru_cache(maxsize=4)
def load(path: Path | None = None) -> wasmtime.Module:
    """The compiled module of `path` (default: the bundled one), from the cache where that is safe.

    Raises:
        WasmLoadError: there is no such file, or it is no WebAssembly module.
    """
    source = _read(path or bundled())
    key = _cache_key(source)
    with contextlib.suppress(OSError):
        directory = cache_directory()
        return _from_cache(directory / key) or _compile_into(directory / key, source)
    return _compile(source)


def cache_directory() -> Path:
    """A directory that nobody else can write to, for machine code that this process will run.

    Raises:
        OSError: it cannot be made, or belongs to somebody else, or others may write to it.
    """
    root = os.environ.get("HOLDFAST_CACHE_DIR") or platformdirs.user_cache_dir("holdfast")
    directory = Path(root) / "compiled"
    directory.mkdir(mode=_OWN_ONLY, parents=True, exist_ok=True)
    if not _is_private(directory, stat.S_ISDIR):
        raise PermissionError(f"{directory} is not private to this user")
    return directory


def _is_private(path: Path, is_kind: object) -> bool:
    found = path.lstat()  # lstat: a link put there by somebody else is not followed
    if not callable(is_kind) or not is_kind(found.st_mode):
        return False
    owner = getattr(os, "getuid", lambda: found.st_uid)()
    return found.st_uid == owner and not found.st_mode & _OTHERS_MAY_WRITE


def _cache_key(source: bytes) -> str:
    return f"{hashlib.sha256(source).hexdigest()}-wasmtime-{version('wasmtime')}.cwasm"


def _from_cache(file: Path) -> wasmtime.Module | None:
    if not file.exists() or not _is_private(file, stat.S_ISREG):
        return None
    with contextlib.suppress(wasmtime.WasmtimeError):  # written by another build of the runtime: compile again
        return wasmtime.Module.deserialize_file(engine(), str(file))
    return None


def _compile_into(file: Path, source: bytes) -> wasmtime.Module:
    module = _compile(source)
    with _replacing(file) as temporary:
        temporary.write_bytes(module.serialize())
    return module


@contextlib.contextmanager
def _replacing(file: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".compiled-")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _compile(source: bytes) -> wasmtime.Module:
    try:
        return wasmtime.Module(engine(), source)
    except wasmtime.WasmtimeError as error:
        raise WasmLoadError(str(error).splitlines()[0]) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WasmLoadError(f"{path.name} cannot be read; build it with `python enclave/build.py`") from error
