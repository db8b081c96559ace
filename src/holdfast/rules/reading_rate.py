"""Limits how fast an address may read. An address's allowance of requests is restored evenly over a period."""

from __future__ import annotations

from math import ceil

_ROUNDING_S = 1e-3  # sums of seconds since the epoch are not exact


def admitted_until(due: float, now: float, limit: int, period_s: float, times: int = 1) -> float | None:
    """Return when the subject's full allowance is restored after one more request, or None if this request has to wait.

    The generic cell rate algorithm (ITU-T I.371) admits `limit` requests at once, and one more every `period_s /
    limit`.

    Args:
        due: what this returned for the subject's last request; 0 before the first.
        now: seconds.
        limit: requests that the subject may send at once; 0 refuses all.
        period_s: in which the limit comes back.
        times: as how many requests this one counts, at most as the limit.
    """
    if limit <= 0:
        return None
    then = max(due, now) + min(times, limit) * period_s / limit
    return then if then <= now + period_s + _ROUNDING_S else None


def wait_s(due: float, now: float, limit: int, period_s: float) -> int:
    """Return the number of whole seconds after which the next request is allowed."""
    if limit <= 0:
        return ceil(period_s)
    return max(1, ceil(due + period_s / limit - period_s - now))
