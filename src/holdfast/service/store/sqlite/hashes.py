"""Transaction hashes as the embedded store keeps them: 32 bytes instead of 66 characters."""

from __future__ import annotations

import re

_HASH = re.compile("0x[0-9a-f]{64}")


def pack_hash(text: str) -> str | bytes:
    """The bytes of `0x` and 64 lower-case hex digits; any other text as it is, since answers repeat what was sent."""
    return bytes.fromhex(text[2:]) if _HASH.fullmatch(text) else text


def unpack_hash(kept: str | bytes) -> str:
    """The text that `pack_hash` was given."""
    return f"0x{kept.hex()}" if isinstance(kept, bytes) else kept
