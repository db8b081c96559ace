"""A P-256 key in memory, for demonstrations and tests: where a passkey or the enclave signs in earnest."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature

from holdfast.wire.keccak import did_of_key
from holdfast.wire.p256 import low_s


@dataclass(frozen=True)
class SoftwareKey:
    """A fresh key: `SoftwareKey.generate()`."""

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def generate(cls) -> SoftwareKey:
        """From the operating system's randomness."""
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
        """The DID that the key certifies."""
        return did_of_key(self.x, self.y)

    async def sign(self, digest: bytes) -> bytes:
        """64 bytes r ‖ s with a low s, over the 32 bytes `digest` themselves."""
        r, s = decode_dss_signature(self.private.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))))
        return r.to_bytes(32) + low_s(s).to_bytes(32)
