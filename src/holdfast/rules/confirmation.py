"""When a pending registration is asked about again, and when it is given up (docs/decisions/0009)."""

from __future__ import annotations

from holdfast.rules.limits import CONFIRM_AT_LEAST_EVERY_S, CONFIRM_EVERY_S, CONFIRMATION_DEADLINE_S

_MOST_DOUBLINGS = 20  # far past the hour; 2**asked must stay a number that a float holds


def ask_again_at(now: float, created_at: float, asked: int, *, in_sight: bool) -> float:
    """When to ask next, in seconds since the epoch.

    Args:
        now: seconds since the epoch.
        created_at: when the registration was recorded.
        asked: how often it was asked about before this time.
        in_sight: the transaction was seen and only lacks blocks on top; otherwise each wait is twice the last, up to
            an hour, so that what never comes costs some thirty questions a day.
    """
    wait_s = CONFIRM_EVERY_S if in_sight else CONFIRM_EVERY_S * 2 ** min(asked, _MOST_DOUBLINGS)
    at = now + min(wait_s, CONFIRM_AT_LEAST_EVERY_S)
    deadline = created_at + CONFIRMATION_DEADLINE_S
    return min(at, deadline) if now < deadline else at


def overdue(now: float, created_at: float) -> bool:
    """Whether the time is over in which the chain must show the registration."""
    return now - created_at >= CONFIRMATION_DEADLINE_S


def deep_enough(head: int, block_number: int, depth: int) -> bool:
    """Whether `depth` blocks stand on top of the transaction's."""
    return head - block_number >= depth
