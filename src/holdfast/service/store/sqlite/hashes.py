"""Converts transaction hashes to the embedded store's form: 32 bytes instead of 66 characters."""

from __future__ import annotations

import re

_HASH = re.compile("0x[0-9a-f]{64}")


def pack_hash(text: str) -> str | bytes:
    """Return the 32 bytes written as `0x` and 64 lower-case hex digits.

    Any other text is returned unchanged, to be stored as it is.
    """
    return bytes.fromhex(text[2:]) if _HASH.fullmatch(text) else text


def unpack_hash(stored: str | bytes) -> str:
    """Return the text that was passed to `pack_hash`."""
    return f"0x{stored.hex()}" if isinstance(stored, bytes) else stored
