"""How far the index is: what `/health` and `/api/progress` say of it, and the lines of a long catch-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_TELL_EVERY_S = 15.0


@dataclass
class Health:
    """What is known of the index's agreement with the chain; `agreed_at` is of the follower's clock.

    Attributes:
        agreed_at: When the index was last found to be a part of the chain; None before the first time.
        tip: The newest block of the index then.
        head: The chain's newest block then.
        failures: Steps that have failed since the last one that did not.
    """

    agreed_at: float | None = None
    tip: int | None = None
    head: int | None = None
    failures: int = 0

    @property
    def lag(self) -> int | None:
        """By how many blocks the index was behind; None before the first agreement."""
        return None if self.head is None else self.head - (self.head if self.tip is None else self.tip)


class FollowProgress(NamedTuple):
    """Blocks are None, and `agreed_s_ago` as well, before the index has first agreed with the chain."""

    tip: int | None
    head: int | None
    behind: int | None
    agreed_s_ago: float | None
    failures: int


class CatchUpLog:
    """The lines of a catch-up: one every 15 s while blocks are missing, one when there are none any more."""

    def __init__(self) -> None:
        self._from: tuple[float, int] | None = None
        self._told_at: float | None = None

    def line(self, now: float, tip: int, head: int) -> str | None:
        """What is worth a line at `now` (seconds of any clock), the index being at `tip`, the chain at `head`."""
        if tip >= head:
            told, self._from, self._told_at = self._told_at, None, None
            return None if told is None else f"caught up with the chain at block {tip}"
        if self._from is None:
            self._from = (now, tip)
        since = self._from[0] if self._told_at is None else self._told_at
        if now - since < _TELL_EVERY_S:
            return None
        self._told_at = now
        return f"at block {tip} of {head}{self._left(now, tip, head)}"

    def _left(self, now: float, tip: int, head: int) -> str:
        began, first = self._from or (now, tip)
        if now <= began or tip <= first:
            return ""
        speed = (tip - first) / (now - began)
        return f", {speed:.0f} blocks/s, about {(head - tip) / speed:.0f} s to go"
