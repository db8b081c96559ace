"""The enclave of this release."""

from __future__ import annotations

from pathlib import Path

import holdfast
from holdfast.settings.rows import SettingError


def bundled_enclave() -> bytes:
    """Return this release's enclave. Raises SettingError if the file is missing."""
    # Read the file without importing its package: the import would load the WebAssembly runtime, which is not needed.
    file = Path(holdfast.__file__).parent / "enclave" / "enclave.wasm"
    try:
        return file.read_bytes()
    except OSError as error:
        raise SettingError("the bundled enclave is missing; install again, or run: make setup") from error
