"""Computes a key's shard: the one of 4096 parts of a distributed database that stores it.

Format: vectors/service/shards.json.
"""

from __future__ import annotations

from hashlib import sha256

SHARDS = 4096


def shard_of(*parts: str | bytes) -> int:
    """Return a key's shard, 0 to 4095: the first 12 bits of the SHA-256 of the key's parts, joined by zero bytes.

    Args:
        parts: texts, hashed as UTF-8, or bytes. An identifier is its channel and canonical key; a credential its folded
            ID; an address or a network itself; a window what is counted and its subject.
    """
    try:
        joined = "\0".join(parts).encode()  # type: ignore[arg-type]  # nearly always: texts alone
    except TypeError:
        joined = b"\0".join([part.encode() if isinstance(part, str) else part for part in parts])
    return int.from_bytes(sha256(joined).digest()[:2]) >> 4
