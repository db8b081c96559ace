"""Reads the private key of an ordinary address, which pays for transactions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

if TYPE_CHECKING:
    from pathlib import Path

    from eth_keys.datatypes import PrivateKey

_OTHERS = 0o077  # permission bits of group and others


def read_key(path: Path, *, as_json: bool) -> PrivateKey:
    """Return the private key in a file, which must be readable only by its owner.

    No error message shows the file's contents.
    """
    try:
        if path.stat().st_mode & _OTHERS and sys.platform != "win32":
            fail(Exit.CONFIGURATION, f"others can read the key file {path}: chmod 600 it first", as_json=as_json)
        return _key(path.read_text(encoding="ascii"))
    except OSError as error:
        fail(Exit.CONFIGURATION, f"cannot read the key file {path}: {error.strerror}", as_json=as_json)
    except ValueError:
        fail(Exit.CONFIGURATION, f"the key file {path} does not hold a private key in hex", as_json=as_json)


def key_in(variable: str, *, as_json: bool) -> PrivateKey | None:
    """Return the private key in an environment variable, None if the variable is not set."""
    if not (text := os.environ.get(variable)):
        return None
    try:
        return _key(text)
    except ValueError:
        fail(Exit.CONFIGURATION, f"{variable} does not hold a private key in hex", as_json=as_json)


def _key(text: str) -> PrivateKey:
    from eth_keys.datatypes import PrivateKey
    from eth_utils.exceptions import ValidationError

    try:
        return PrivateKey(bytes.fromhex(text.strip().removeprefix("0x")))
    except ValidationError as error:
        raise ValueError("not a private key") from error
