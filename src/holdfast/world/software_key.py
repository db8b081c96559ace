"""A P-256 key in memory, for demonstrations and tests. In production, a passkey or the enclave signs instead."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature

from holdfast.wire.keccak import did_of_key
from holdfast.wire.p256 import low_s


@dataclass(frozen=True)
class SoftwareKey:
    """A P-256 key; `SoftwareKey.generate()` creates one."""

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def generate(cls) -> SoftwareKey:
        """Generate a key from the operating system's randomness."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @property
    def x(self) -> int:
        """X of the public key."""
        return self.private.public_key().public_numbers().x

    @property
    def y(self) -> int:
        """Y of the public key."""
        return self.private.public_key().public_numbers().y

    @property
    def did(self) -> str:
        """The `did:new` of the key."""
        return did_of_key(self.x, self.y)

    async def sign(self, digest: bytes) -> bytes:
        """Sign the 32-byte `digest` without hashing it again, and return 64 bytes, r ‖ s with a low s."""
        r, s = decode_dss_signature(self.private.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))))
        return r.to_bytes(32) + low_s(s).to_bytes(32)
