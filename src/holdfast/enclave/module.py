"""The enclave's module: finds its file, and caches its compiled machine code so that startup takes milliseconds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import zlib
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import wasmtime

from holdfast.wire.client_errors import WasmLoadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OWN_ONLY = 0o700
_CHECKSUM = 4  # bytes of the CRC-32 after the machine code
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def bundled() -> Path:
    """Return the path of the bundled enclave module, which the service serves and the client runs."""
    return Path(__file__).with_name("enclave.wasm")


@cache
def bundled_sha256() -> str:
    """Return the SHA-256 of the bundled module in hex, as stored in `VaultManifest.wasmVersion`.

    Raises WasmLoadError.
    """
    return hashlib.sha256(_read(bundled())).hexdigest()


@cache
def engine() -> wasmtime.Engine:
    """Return the process's one engine.

    All instances share the engine's compiled code; epoch interruption limits the duration of calls.
    """
    config = wasmtime.Config()
    config.epoch_interruption = True
    return wasmtime.Engine(config)


@lru_cache(maxsize=4)
def load(path: Path | None = None) -> wasmtime.Module:
    """Return the compiled module from `path` (default: the bundled one), using the cache if that is safe.

    Raises:
        WasmLoadError: the file does not exist or is not a WebAssembly module.
    """
    source = _read(path or bundled())
    key = _cache_key(source)
    with contextlib.suppress(OSError):
        directory = cache_directory()
        return _from_cache(directory / key) or _compile_into(directory / key, source)
    return _compile(source)


def cache_directory() -> Path:
    """Return a directory to which no other user can write, to hold machine code that this process will run.

    Raises:
        OSError: it cannot be created, belongs to another user, or is writable by others.
    """
    root = os.environ.get("HOLDFAST_CACHE_DIR") or platformdirs.user_cache_dir("holdfast")
    directory = Path(root) / "compiled"
    directory.mkdir(mode=_OWN_ONLY, parents=True, exist_ok=True)
    if not _is_private(directory, stat.S_ISDIR):
        raise PermissionError(f"{directory} is not private to this user")
    return directory


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    return _is_own(path.lstat(), is_kind)  # lstat, so that a link made by another user is not followed


def _is_own(found: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    owner = getattr(os, "getuid", lambda: found.st_uid)()
    return is_kind(found.st_mode) and found.st_uid == owner and not found.st_mode & _OTHERS_MAY_WRITE


def _cache_key(source: bytes) -> str:
    return f"{hashlib.sha256(source).hexdigest()}-wasmtime-{version('wasmtime')}.cwasm"


def _from_cache(file: Path) -> wasmtime.Module | None:
    # The file is checked, read and loaded through one descriptor, so that it cannot be replaced with another file in
    # between.
    with contextlib.suppress(FileNotFoundError), _opened(file) as descriptor:
        if not _is_own(os.fstat(descriptor), stat.S_ISREG) or not _is_whole(descriptor):
            return None
        with contextlib.suppress(wasmtime.WasmtimeError):  # written by another version of the runtime: compile again
            return _deserialize(descriptor)
    return None


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[int]:
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_whole(descriptor: int) -> bool:
    # The runtime executes what it loads, so a file damaged by a disk error or a partial write must not be loaded. A
    # checksum is enough, because the directory's owner and mode protect the file against other users.
    content = memoryview(_content(descriptor))
    return len(content) > _CHECKSUM and _checksum(content[:-_CHECKSUM]) == content[-_CHECKSUM:]


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as opened:
        return opened.read()


def _deserialize(descriptor: int) -> wasmtime.Module:
    mapped = f"/proc/self/fd/{descriptor}"  # mapped instead of copied, for a faster start
    if sys.platform == "linux" and Path(mapped).exists():
        return wasmtime.Module.deserialize_file(engine(), mapped)
    return wasmtime.Module.deserialize(engine(), _content(descriptor))


def _checksum(code: bytes | memoryview) -> bytes:
    return zlib.crc32(code).to_bytes(_CHECKSUM)


def _compile_into(file: Path, source: bytes) -> wasmtime.Module:
    module = _compile(source)
    code = bytes(module.serialize())
    with contextlib.suppress(OSError), _replacing(file) as temporary:  # a full disk only makes the next start slower
        temporary.write_bytes(code + _checksum(code))
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
