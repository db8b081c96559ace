"""One-time codes: six digits, kept only as a keyed hash, judged after the attempt was counted."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.rules.limits import CODE_DIGITS, KEPT_FOR_ASKER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Limits

_SPACE = 10**CODE_DIGITS
_DRAW_BYTES = 8
# The largest multiple of the code space that eight bytes can hold: draws above it would favour low codes.
_FAIR_BELOW = (2 ** (8 * _DRAW_BYTES) // _SPACE) * _SPACE


class CodeFailure(StrEnum):
    """Why a check failed; the values are the sentences that the answer's `message` carries."""

    NO_CODE = "No code was sent or it has been used. Request a new one."
    EXPIRED = "The code has expired. Request a new one."
    TOO_MANY_ATTEMPTS = "Too many attempts. Request a new code."
    INCORRECT = "The code is incorrect."


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """A stored code as it stood when this attempt was counted.

    Attributes:
        code_id: names the code, so that consuming it cannot hit a newer one.
        digest: keyed hash of the code.
        expires_at: seconds since the epoch.
        attempts: this attempt's number, from 1; one past the limit when none was left for it. Not counted after the
            expiry.
    """

    code_id: int
    digest: bytes
    expires_at: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often a code was tried: in all, and from other addresses than the one that asked for it."""

    in_all: int
    by_others: int


def count(before: Attempts, limit: int, *, own: bool) -> tuple[Attempts, int]:
    """What one more attempt makes of the count, and its number, which is one past the limit when none was left.

    One attempt is kept for the address that asked for the code, so that no stranger can use up all of them.

    Args:
        before: the count so far.
        limit: attempts in all.
        own: whether the attempt comes from the address that asked for the code.
    """
    others_left = own or before.by_others < limit - KEPT_FOR_ASKER
    if before.in_all >= limit or not others_left:
        return before, limit + 1
    return Attempts(before.in_all + 1, before.by_others + (not own)), before.in_all + 1


def draw_code(entropy: Callable[[int], bytes]) -> str:
    """Six digits, every code equally likely. `entropy(n)` returns n bytes of the operating system's generator."""
    while (drawn := int.from_bytes(entropy(_DRAW_BYTES))) >= _FAIR_BELOW:
        pass
    return f"{drawn % _SPACE:0{CODE_DIGITS}d}"


def code_digest(key: bytes, identifier: Identifier, code: str) -> bytes:
    """Keyed hash of a code, bound to the identifier and channel that it was sent to."""
    message = f"holdfast/code/v1\n{identifier.channel}\n{identifier.key}\n{code}"
    return hmac.digest(key, message.encode(), "sha256")


def judge(
    attempt: CountedAttempt | None, identifier: Identifier, code: str, keys: Sequence[bytes], now: float, limits: Limits
) -> CodeFailure | None:
    """None when `code` is the one that was sent; otherwise why not. Compares in constant time, against every key."""
    if attempt is None:
        return CodeFailure.NO_CODE
    if now >= attempt.expires_at:
        return CodeFailure.EXPIRED
    if attempt.attempts > limits.max_verify_attempts:
        return CodeFailure.TOO_MANY_ATTEMPTS
    matches = [hmac.compare_digest(attempt.digest, code_digest(key, identifier, code.strip())) for key in keys]
    return None if any(matches) else CodeFailure.INCORRECT
