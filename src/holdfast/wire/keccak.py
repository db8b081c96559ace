"""Keccak-256 as in Ethereum (not SHA3-256), and its uses: hashes of DIDs and aliases, and EIP-55 addresses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def _backend() -> Callable[[bytes], bytes]:
    # safe-pysha3 takes 1.2 us per digest. pycryptodome, used on platforms for which there is no safe-pysha3 build,
    # takes 8.4 us, and 25 ms to import.
    try:
        from sha3 import keccak_256  # type: ignore[import-untyped]  # a C module without stubs
    except ImportError:
        from Crypto.Hash import keccak

        return lambda data: keccak.new(data=data, digest_bits=256).digest()
    return lambda data: bytes(keccak_256(data).digest())


def keccak256(data: bytes) -> bytes:
    """Return the 32-byte Keccak-256 digest of `data`."""
    return _backend()(data)


def did_hash(did: str) -> bytes:
    """Return the Keccak-256 of a DID in UTF-8, by which the registry contract identifies the DID."""
    return keccak256(did.encode())


def alias_hash(alias: str) -> bytes:
    """Return the Keccak-256 of an alias, lower-cased and in UTF-8."""
    return keccak256(alias.lower().encode())


def did_of_key(x: int, y: int) -> str:
    """Return the `did:new` of a P-256 key: `did:new:0x` and the hash of both 32-byte coordinates."""
    return "did:new:0x" + keccak256(x.to_bytes(32) + y.to_bytes(32)).hex()


def checksum_address(address: bytes) -> str:
    """Return a 20-byte address as hex with its EIP-55 checksum."""
    digits = address.hex()
    digest = keccak256(digits.encode()).hex()
    return "0x" + "".join(c.upper() if int(h, 16) > 7 else c for c, h in zip(digits, digest, strict=False))  # noqa: PLR2004 - EIP-55
