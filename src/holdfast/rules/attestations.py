"""Attestations, which prove that a person has read a code that was sent to an identifier (decisions, section 6)."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.identifiers import Channel, Identifier, parse_identifier
from holdfast.wire.encoding import from_iso, to_iso
from holdfast.wire.errors import ATTESTATION_EXPIRED, ATTESTATION_INVALID, ATTESTATION_MISMATCH, Refused
from holdfast.wire.models import Attestation

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_KEY_BYTES = 32
_PREFIX = b"holdfast/attestation/v1\n"
_SIGNATURE = re.compile(r"0x[0-9a-f]{64}")
_FIELDS = frozenset(Attestation.__struct_fields__)


@dataclass(frozen=True, slots=True)
class VerifiedAttestation:
    """A valid attestation: the signature under which its use is recorded, and the time at which that record expires."""

    signature: bytes
    expires_at: float


def issue_at(identifier: Identifier, registrar: str, key: bytes, now: float, ttl_s: int) -> Attestation:
    """Return a signed attestation that `identifier` was verified at `now` (seconds since the epoch)."""
    claims = {
        "identifier": identifier.given,
        "channel": identifier.channel.value,
        "verified_at": to_iso(now),
        "expires_at": to_iso(now + ttl_s),
        "registrar": registrar,
    }
    return Attestation(**claims, signature=sign(claims, key))


def sign(claims: dict[str, str], key: bytes) -> str:
    """Return the signature, `0x` and 64 hex digits: HMAC-SHA256 over the prefix and the claims in RFC 8785 form."""
    return "0x" + hmac.digest(key, _PREFIX + canonical(claims), "sha256").hex()


def canonical(claims: dict[str, str]) -> bytes:
    """Return the claims in RFC 8785 (JCS) form.

    As all values are strings and all names are ASCII, JSON with sorted names and without spaces is already canonical.
    A test compares the result with the reference package's for every kind of character.
    """
    return msgspec.json.encode(dict(sorted(claims.items())))


def verify_at(
    value: object, identifier: Identifier, keys: Sequence[bytes], registrar: str, now: float
) -> VerifiedAttestation:
    """Verify the attestation `value` for `identifier`, making the checks in the documented order.

    Raises:
        Refused: ATTESTATION_INVALID for a wrong shape or signature or another registrar's, though it be under the same
            key, then ATTESTATION_MISMATCH for another identifier or channel, then ATTESTATION_EXPIRED.
    """
    claims, signature = _checked_shape(value)
    expected = [sign(claims, key) for key in keys]
    if not any([hmac.compare_digest(signature, candidate) for candidate in expected]):  # noqa: C419 - all keys, always
        raise Refused(ATTESTATION_INVALID)
    if claims["registrar"] != registrar:
        raise Refused(ATTESTATION_INVALID)
    if claims["channel"] != identifier.channel.value or _key_of(claims) != identifier.key:
        raise Refused(ATTESTATION_MISMATCH)
    expires_at = from_iso(claims["expires_at"])
    if now >= expires_at:
        raise Refused(ATTESTATION_EXPIRED)
    return VerifiedAttestation(bytes.fromhex(signature[2:]), expires_at)


def _checked_shape(value: Any) -> tuple[dict[str, str], str]:
    if type(value) is not dict or value.keys() != _FIELDS or not all(type(v) is str for v in value.values()):
        raise Refused(ATTESTATION_INVALID)
    claims = {name: value[name] for name in _FIELDS if name != "signature"}
    signature: str = value["signature"]
    if not _SIGNATURE.fullmatch(signature):
        raise Refused(ATTESTATION_INVALID)
    return claims, signature


def _key_of(claims: dict[str, str]) -> str:
    return parse_identifier(claims["identifier"], Channel(claims["channel"])).key
