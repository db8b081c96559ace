"""Hex, base64url and ISO 8601. Holdfast writes each of these formats in only one way."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from functools import lru_cache

_LAST_S = 253_402_300_799  # the end of the year 9999, the last that datetime knows


def to_hex(data: bytes) -> str:
    """Encode bytes as `0x` and lower-case hex digits."""
    return "0x" + data.hex()


def from_hex(text: str) -> bytes:
    """Decode a hex string of even length, with or without `0x`. Raises ValueError for anything else."""
    digits = text[2:] if text[:2] in {"0x", "0X"} else text
    if not digits.isascii() or any(c.isspace() for c in digits):
        raise ValueError("not hexadecimal")
    return bytes.fromhex(digits)


def to_base64url(data: bytes) -> str:
    """Encode bytes as base64url without padding (RFC 4648 section 5), as WebAuthn does."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Decode base64 or base64url, padded or not. Raises ValueError for anything else."""
    folded = text.rstrip("=").translate(_TO_STANDARD)
    try:
        return base64.b64decode(folded + "=" * (-len(folded) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def to_iso(seconds: float) -> str:
    """Format seconds since the epoch as an ISO 8601 time in UTC, with milliseconds and `Z`."""
    whole, milliseconds = divmod(round(seconds * 1_000_000) // 1000, 1000)
    return f"{_iso_second(whole)}.{milliseconds:03d}Z"


@lru_cache(1024)
def _iso_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def utc_text(seconds: float) -> str:
    """Return seconds since the epoch for people, to the minute; a time after the year 9999 is its end."""
    return f"{datetime.fromtimestamp(min(seconds, _LAST_S), UTC):%Y-%m-%d %H:%M} UTC"


def from_iso(text: str) -> float:
    """Convert an ISO 8601 time with a time zone to seconds since the epoch. Raises ValueError for anything else."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("time without a zone")
    return moment.timestamp()


_TO_STANDARD = str.maketrans("-_", "+/")
