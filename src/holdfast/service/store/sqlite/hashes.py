"""Transaction hashes as the embedded store stores them: 32 bytes instead of 66 characters."""

from __future__ import annotations

import re

_HASH = re.compile("0x[0-9a-f]{64}")


def pack_hash(text: str) -> str | bytes:
    """Return the bytes for `0x` and 64 lower-case hex digits, any other text unchanged, so that responses repeat it."""
    return bytes.fromhex(text[2:]) if _HASH.fullmatch(text) else text


def unpack_hash(kept: str | bytes) -> str:
    """Return the text that was passed to `pack_hash`."""
    return f"0x{kept.hex()}" if isinstance(kept, bytes) else kept
