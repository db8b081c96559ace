"""Replaces names and DIDs in records of the past by keyed hashes, which keep the chain of events without the names.

The service, which has the key, can tell whether a hash is that of a given name. So a hash is a pseudonym, and the row
still concerns a person.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

# No identifier and no DID contains a space, so no name looks like a hash.
PREFIX = "hash "
_BLOCK_BYTES = 64  # of SHA-256 (RFC 2104, section 2)
_DIGITS = 32


@dataclass(frozen=True, slots=True, repr=False)
class Pseudonyms:
    """Makes keyed hashes. This class has no repr, so that logs cannot contain the key.

    Attributes:
        key: 32 bytes.
    """

    key: bytes

    def of_name(self, channel: str, key: str) -> str:
        """Return the hash of an identifier, given as channel and canonical key."""
        return self._of(channel, key)

    def of_did(self, did: str) -> str:
        """Return the hash of a DID."""
        return self._of("did", did)

    @property
    def blocks(self) -> tuple[bytes, bytes]:
        """The inner and the outer block of HMAC-SHA-256 with this key, from which a database computes the same."""
        padded = self.key.ljust(_BLOCK_BYTES, b"\0")
        return bytes(byte ^ 0x36 for byte in padded), bytes(byte ^ 0x5C for byte in padded)

    def _of(self, *parts: str) -> str:
        return PREFIX + hmac.digest(self.key, "\0".join(parts).encode(), "sha256").hex()[:_DIGITS]
