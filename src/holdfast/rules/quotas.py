"""Sliding windows: how many events a subject may have in the time just past."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from holdfast.rules.limits import CODES_PER_IDENTIFIER_WINDOW_S, SENDS_PER_IP_WINDOW_S
from holdfast.wire.errors import RATE_LIMITED, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.limits import Limits


@dataclass(frozen=True, slots=True)
class SendFacts:
    """Times of earlier sends inside the windows, oldest first, in seconds since the epoch."""

    now: float
    sends_from_ip: Sequence[float]
    codes_to_identifier: Sequence[float]


def admit_send(facts: SendFacts, limits: Limits) -> None:
    """Refuse a send that would pass a limit (interface: POST /api/verify/send, 429).

    `codes_to_identifier` is empty for SMS, whose provider keeps its own limits.
    """
    _admit(facts.sends_from_ip, limits.max_verify_sends_per_ip, SENDS_PER_IP_WINDOW_S, facts.now)
    _admit(facts.codes_to_identifier, limits.rate_limit_codes_per_identifier, CODES_PER_IDENTIFIER_WINDOW_S, facts.now)


def _admit(times: Sequence[float], limit: int, window_s: float, now: float) -> None:
    if len(times) >= limit:
        # The event whose leaving makes room: with a limit of none at all, nothing ever does, so a whole window.
        freed_at = times[len(times) - limit] + window_s if limit else now + window_s
        raise Refused(RATE_LIMITED, retry_after_s=max(1, ceil(min(freed_at - now, window_s))))
