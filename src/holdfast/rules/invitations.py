"""Invitation codes: signed, so that the service stores only how often each was used.

A code is base32 (RFC 4648) of 20 bytes: how many registrations it admits (2), the hour in which it expires, since the
epoch (3), a random number (6), and the first 72 bits of their HMAC-SHA256 (9).
"""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.limits import DAY_S, HOUR_S
from holdfast.rules.quotas import Counted, Quota

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_USES = 1000
MAX_DAYS = 366
_USES_BYTES, _HOUR_BYTES, _RANDOM_BYTES, _MAC_BYTES = 2, 3, 6, 9
_SIGNED_BYTES = _USES_BYTES + _HOUR_BYTES + _RANDOM_BYTES
_GROUP = 4  # characters between hyphens


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation: `number` is its random number in hex, `expires_at` in seconds since the epoch."""

    number: str
    uses: int
    expires_at: int

    def quota(self) -> Quota:
        """Return the window in which a use counts; all uses count at `expires_at`, so that they are kept until then."""
        return Quota(Counted.INVITATIONS, self.number, self.uses, DAY_S)


def new_invitation(key: bytes, uses: int, expires_at: float, entropy: Callable[[int], bytes]) -> str:
    """Return a new code that admits `uses` registrations and expires in the full hour after `expires_at`."""
    hour = int(expires_at // HOUR_S) + 1
    signed = uses.to_bytes(_USES_BYTES) + hour.to_bytes(_HOUR_BYTES) + entropy(_RANDOM_BYTES)
    text = base64.b32encode(signed + _mac(key, signed)).decode()
    return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))


def parse_invitation(code: str, keys: Sequence[bytes], now: float) -> Invitation | None:
    """Return the invitation of a code; None unless one of the keys signed it and it has not expired.

    Hyphens, spaces and case do not matter.
    """
    try:
        whole = base64.b32decode("".join(code.split()).replace("-", "").upper())
    except (binascii.Error, ValueError):
        return None
    signed, mac = whole[:_SIGNED_BYTES], whole[_SIGNED_BYTES:]
    if not any(hmac.compare_digest(mac, _mac(key, signed)) for key in keys):
        return None
    hour = int.from_bytes(signed[_USES_BYTES : _USES_BYTES + _HOUR_BYTES])
    found = Invitation(signed[-_RANDOM_BYTES:].hex(), int.from_bytes(signed[:_USES_BYTES]), hour * HOUR_S)
    return found if now < found.expires_at else None


def _mac(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, b"holdfast/invitation/v1\n" + signed, "sha256")[:_MAC_BYTES]
