"""Keys whose signatures are the same in every run, so that a run's gas is too; and passkeys' assertions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature

from holdfast.wire.encoding import to_base64url
from holdfast.wire.p256 import low_s

HOST = "holdfast.example"
FIELDS = f'"origin":"https://{HOST}","crossOrigin":false'  # what a browser writes after type and challenge
_PRESENT_AND_VERIFIED = 0x05


@dataclass(frozen=True, slots=True)
class Assertion:
    """What a passkey returns for a challenge, with the lower of the two valid values of s."""

    r: int
    s: int
    authenticator_data: bytes
    client_data: bytes

    @property
    def challenge_index(self) -> int:
        """Where the challenge begins in the client data."""
        return self.client_data.index(b'"challenge"')

    @property
    def type_index(self) -> int:
        """Where the type begins in the client data."""
        return self.client_data.index(b'"type"')


@dataclass(frozen=True, slots=True)
class Key:
    """A P-256 key that is derived from a number."""

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def numbered(cls, number: int) -> Key:
        """Return the key with this private number."""
        return cls(ec.derive_private_key(number, ec.SECP256R1()))

    @property
    def point(self) -> tuple[int, int]:
        """X and Y of the public key."""
        numbers = self.private.public_key().public_numbers()
        return numbers.x, numbers.y

    @property
    def words(self) -> tuple[bytes, bytes]:
        """X and Y as 32 bytes each."""
        x, y = self.point
        return x.to_bytes(32), y.to_bytes(32)

    def sign(self, digest: bytes) -> bytes:
        """Sign a 32-byte digest without hashing it again: r ‖ s."""
        algorithm = ec.ECDSA(Prehashed(hashes.SHA256()), deterministic_signing=True)
        r, s = decode_dss_signature(self.private.sign(digest, algorithm))
        return r.to_bytes(32) + low_s(s).to_bytes(32)

    def asserts(self, challenge: bytes) -> Assertion:
        """Return the assertion of a passkey with this key, of a person who was present and verified."""
        head = {"type": "webauthn.get", "challenge": to_base64url(challenge)}
        client_data = f"{json.dumps(head, separators=(',', ':'))[:-1]},{FIELDS}}}".encode()
        data = hashlib.sha256(HOST.encode()).digest() + bytes([_PRESENT_AND_VERIFIED]) + bytes(4)
        signature = self.sign(hashlib.sha256(data + hashlib.sha256(client_data).digest()).digest())
        return Assertion(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]), data, client_data)
