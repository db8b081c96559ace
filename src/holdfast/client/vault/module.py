"""Fetches the enclave's module from the service, checks it against the expected hash, and caches it."""

from __future__ import annotations

import hashlib
import hmac
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from holdfast.wire.client_errors import WasmLoadError
from holdfast.wire.file_errors import file_words

if TYPE_CHECKING:
    from collections.abc import Callable


def module_file(sha256: str, fetch: Callable[[], bytes], *, directory: Path | None = None) -> Path:
    """Return the path of the cached module with this SHA-256 (hex), after fetching and verifying it if necessary.

    Raises:
        WasmLoadError: the fetched module has another hash, or cannot be written to the cache.
    """
    file = (directory or module_directory()) / f"{sha256}.wasm"
    try:
        if file.exists() and _is(file.read_bytes(), sha256):
            return file
        return _keep(file, checked_module(fetch(), sha256))
    except OSError as error:
        raise WasmLoadError(f"the module cannot be kept at {file}: {file_words(error)}") from error


def checked_module(module: bytes, sha256: str) -> bytes:
    """Return the module. Raises WasmLoadError if it does not have that SHA-256."""
    if not _is(module, sha256):
        raise WasmLoadError("the service's module is not the expected one")
    return module


def module_directory() -> Path:
    """Return the folder in which fetched modules are cached."""
    return Path(os.environ.get("HOLDFAST_CACHE_DIR") or platformdirs.user_cache_dir("holdfast")) / "modules"


def _is(module: bytes, sha256: str) -> bool:
    return hmac.compare_digest(hashlib.sha256(module).hexdigest(), sha256.lower())


def _keep(file: Path, module: bytes) -> Path:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(
        dir=file.parent, prefix=".module-"
    )  # a random name, where no symbolic link can have been prepared
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(module)
        return Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
