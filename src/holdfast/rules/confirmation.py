"""When a pending registration is checked on the chain again, and when the service gives up (decision 0009)."""

from __future__ import annotations

from holdfast.rules.limits import CONFIRM_AT_LEAST_EVERY_S, CONFIRM_EVERY_S, CONFIRMATION_DEADLINE_S
from holdfast.wire.requests import NO_TRANSACTION

NEVER = 1e15
"""A time, in seconds since the epoch, that never comes: the next check of a registration that no chain decides."""
_MOST_DOUBLINGS = 20  # far more than an hour; 2**asked must still fit into a float


def ask_again_at(now: float, created_at: float, attempts: int, *, in_sight: bool) -> float:
    """Return when to check a registration next, in seconds since the epoch.

    Args:
        now: seconds since the epoch.
        created_at: when the registration was recorded.
        attempts: how often it was checked before.
        in_sight: the transaction is mined and only needs more blocks on top. Otherwise each wait is twice the last, up
        to an hour, so that a registration whose transaction never comes costs about thirty checks a day.
    """
    wait_s = CONFIRM_EVERY_S if in_sight else CONFIRM_EVERY_S * 2 ** min(attempts, _MOST_DOUBLINGS)
    at = now + min(wait_s, CONFIRM_AT_LEAST_EVERY_S)
    deadline = created_at + CONFIRMATION_DEADLINE_S
    return min(at, deadline) if now < deadline else at


def states_no_transaction(tx_hash: str) -> bool:
    """Return whether a registration says that it has no transaction."""
    return tx_hash.lower() == NO_TRANSACTION


def overdue(now: float, created_at: float) -> bool:
    """Return whether the deadline for a registration to appear on the chain has passed."""
    return now - created_at >= CONFIRMATION_DEADLINE_S


def deep_enough(head: int, block_number: int, depth: int) -> bool:
    """Return whether at least `depth` blocks follow the transaction's block."""
    return head - block_number >= depth
