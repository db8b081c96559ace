"""The progress of the index, for `/health` and `/api/progress`, and the lines logged during a long catch-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_TELL_EVERY_S = 15.0


@dataclass
class Health:
    """What is known about the index's agreement with the chain. `agreed_at` is a time by the follower's clock.

    Attributes:
        agreed_at: When the index last agreed with the chain; None before the first agreement.
        tip: The newest block of the index at that time.
        head: The chain's newest block at that time.
        failures: Failed steps since the last successful one.
    """

    agreed_at: float | None = None
    tip: int | None = None
    head: int | None = None
    failures: int = 0

    @property
    def lag(self) -> int | None:
        """How many blocks the index was behind the chain; None until the index first agrees with the chain."""
        return None if self.head is None else self.head - (self.head if self.tip is None else self.tip)


class FollowProgress(NamedTuple):
    """The progress of the index. All fields but `failures` are None until the index first agrees with the chain."""

    tip: int | None
    head: int | None
    behind: int | None
    agreed_s_ago: float | None
    failures: int


class CatchUpLog:
    """The lines logged during a catch-up: one every 15 s while blocks are missing, and one at the end."""

    def __init__(self) -> None:
        self._from: tuple[float, int] | None = None
        self._logged_at: float | None = None

    def line(self, now: float, tip: int, head: int) -> str | None:
        """Return the line due at `now` (in seconds), or None. `tip` is the index's newest block, `head` the chain's."""
        if tip >= head:
            logged_at, self._from, self._logged_at = self._logged_at, None, None
            return None if logged_at is None else f"caught up with the chain at block {tip}"
        if self._from is None:
            self._from = (now, tip)
        since = self._from[0] if self._logged_at is None else self._logged_at
        if now - since < _TELL_EVERY_S:
            return None
        self._logged_at = now
        return f"at block {tip} of {head}{self._left(now, tip, head)}"

    def _left(self, now: float, tip: int, head: int) -> str:
        began, first = self._from or (now, tip)
        if now <= began or tip <= first:
            return ""
        speed = (tip - first) / (now - began)
        return f", {speed:.0f} blocks/s, about {(head - tip) / speed:.0f} s to go"
