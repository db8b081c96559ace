"""One-time codes: six digits, of which only a keyed hash is stored.

An attempt is counted before the code is checked.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.rules.limits import CODE_DIGITS, RESERVED_FOR_REQUESTER, SMS_CODE_EXPIRY_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Limits

_SPACE = 10**CODE_DIGITS
_DRAW_BYTES = 8
_CLOCKS_DIFFER_S = 120  # of two nodes, each of which may be a minute off the database server's
# The largest multiple of the number of codes that fits in eight bytes. Larger random numbers are not used, since they
# would make low codes more likely.
_FAIR_BELOW = (2 ** (8 * _DRAW_BYTES) // _SPACE) * _SPACE


class CodeFailure(StrEnum):
    """The reason why a code was refused. The values are the sentences in the response's `message`."""

    NO_CODE = "No code was sent or it has been used. Request a new one."
    EXPIRED = "The code has expired. Request a new one."
    TOO_MANY_ATTEMPTS = "Too many attempts. Request a new code."
    INCORRECT = "The code is incorrect."


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """A stored code, as it was when an attempt at it was counted.

    Attributes:
        code_id: identifies the code, so that consuming it cannot affect a newer one.
        digest: keyed hash of the code.
        expires_at: seconds since the epoch.
        attempts: this attempt's number, from 1; the limit plus one if none was left. An expired code is not counted.
    """

    code_id: int
    digest: bytes
    expires_at: float
    attempts: int


@dataclass(frozen=True, slots=True)
class Attempts:
    """How many attempts at a code have been made: in total, and from addresses other than the one that requested it."""

    in_all: int
    by_others: int


def count(before: Attempts, limit: int, *, own: bool) -> tuple[Attempts, int]:
    """Return the counts after one more attempt, and the attempt's number, or the limit plus one if none was left.

    One attempt is reserved for the address that requested the code, so that a stranger cannot use up all of them.

    Args:
        before: the count so far.
        limit: attempts in all.
        own: whether the attempt comes from the address that requested the code.
    """
    others_left = own or before.by_others < limit - RESERVED_FOR_REQUESTER
    if before.in_all >= limit or not others_left:
        return before, limit + 1
    return Attempts(before.in_all + 1, before.by_others + (not own)), before.in_all + 1


def draw_code(entropy: Callable[[int], bytes]) -> str:
    """Return a code of six digits. All codes are equally likely.

    `entropy(n)` returns n random bytes from the operating system.
    """
    while (drawn := int.from_bytes(entropy(_DRAW_BYTES))) >= _FAIR_BELOW:
        pass
    return f"{drawn % _SPACE:0{CODE_DIGITS}d}"


def code_digest(key: bytes, identifier: Identifier, code: str) -> bytes:
    """Return the keyed hash of a code, bound to the identifier and channel to which it was sent."""
    message = f"holdfast/code/v1\n{identifier.channel}\n{identifier.key}\n{code}"
    return hmac.digest(key, message.encode(), "sha256")


def judge(
    attempt: CountedAttempt | None, identifier: Identifier, code: str, keys: Sequence[bytes], now: float, limits: Limits
) -> CodeFailure | None:
    """Return None if `code` is the one that was sent, or else the reason why it is refused.

    The code is compared in constant time, with the hash under each key.
    """
    return judge_digests(attempt, [code_digest(key, identifier, code.strip()) for key in keys], now, limits)


def judge_digests(
    attempt: CountedAttempt | None, digests: Sequence[bytes], now: float, limits: Limits
) -> CodeFailure | None:
    """Return None if one of the keyed hashes of an entered code is that of the code that was sent; see `judge`.

    A code that expires later than any that is sent now was sent while the clock ran ahead, and has expired.
    """
    if attempt is None:
        return CodeFailure.NO_CODE
    longest_s = max(limits.email_code_expiry_seconds, SMS_CODE_EXPIRY_S) + _CLOCKS_DIFFER_S
    if not attempt.expires_at - longest_s <= now < attempt.expires_at:
        return CodeFailure.EXPIRED
    if attempt.attempts > limits.max_verify_attempts:
        return CodeFailure.TOO_MANY_ATTEMPTS
    matches = [hmac.compare_digest(attempt.digest, digest) for digest in digests]
    return None if any(matches) else CodeFailure.INCORRECT
