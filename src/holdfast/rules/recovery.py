"""Requests for the service's signature as a guardian of an account, and the key with which it signs."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.errors import INVALID_NEW_OWNERS, Refused
from holdfast.wire.p256 import ORDER, low_s, on_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NEW_OWNERS = 16  # contracts/src/account/Recovery.sol
REQUEST_BYTES = 16
_P256_BYTES, _ADDRESS_BYTES, _LONGEST = 64, 20, 1024
_REQUEST = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True, repr=False)
class GuardianKey:
    """A P-256 key of the service. The class has no repr, so that logs cannot contain the key."""

    private: ec.EllipticCurvePrivateKey

    @property
    def signer(self) -> bytes:
        """The key as a signer of accounts: X ‖ Y."""
        public = self.private.public_key().public_numbers()
        return public.x.to_bytes(32) + public.y.to_bytes(32)

    def sign(self, digest: bytes) -> bytes:
        """Return r ‖ s with a low s under a 32-byte digest; always the same for a digest (RFC 6979)."""
        algorithm = ec.ECDSA(Prehashed(SHA256()), deterministic_signing=True)
        r, s = decode_dss_signature(self.private.sign(digest, algorithm))
        return r.to_bytes(32) + low_s(s).to_bytes(32)


def parse_guardian_keys(text: str) -> tuple[GuardianKey, ...]:
    """Return the keys: secrets of 32 bytes in hex, separated by commas. Raises ValueError."""
    return tuple(_key_of(part.strip()) for part in text.split(","))


def _key_of(text: str) -> GuardianKey:
    match = _KEY.fullmatch(text)
    secret = int(match[1], 16) if match else 0
    if not 0 < secret < ORDER:
        raise ValueError("each key is a secret of P-256: 32 bytes in hex (holdfast keys new)")
    return GuardianKey(ec.derive_private_key(secret, ec.SECP256R1()))


def parse_new_owners(listed: Sequence[object]) -> tuple[bytes, ...]:
    """Return the signers that shall own an account, in 0x-hex. Raises Refused(INVALID_NEW_OWNERS)."""
    owners = tuple(_signer_of(text) for text in listed[: MAX_NEW_OWNERS + 1])
    if not 0 < len(owners) <= MAX_NEW_OWNERS or len(set(owners)) != len(owners):
        raise Refused(INVALID_NEW_OWNERS)
    return owners


def _signer_of(text: object) -> bytes:
    if not isinstance(text, str) or not text.startswith("0x") or len(text) > 2 * (_LONGEST + 1):
        raise Refused(INVALID_NEW_OWNERS)
    try:
        signer = from_hex(text)
    except ValueError:
        raise Refused(INVALID_NEW_OWNERS) from None
    if len(signer) == _P256_BYTES:
        good = on_curve(int.from_bytes(signer[:32]), int.from_bytes(signer[32:]))
    else:
        good = len(signer) >= _ADDRESS_BYTES and any(signer[:_ADDRESS_BYTES])
    if not good:
        raise Refused(INVALID_NEW_OWNERS)
    return signer


def owners_text(owners: Sequence[bytes]) -> str:
    """Return the list as the store has it."""
    return ",".join(map(to_hex, owners))


def is_request(text: str) -> bool:
    """Return whether the text can be the number of a request."""
    return _REQUEST.fullmatch(text) is not None


def recovery_code_digest(key: bytes, request: str, code: str) -> bytes:
    """Return the keyed hash of a code, bound to its request, so that it is worth nothing anywhere else."""
    return hmac.digest(key, f"holdfast/recovery-code/v1\n{request}\n{code}".encode(), "sha256")
