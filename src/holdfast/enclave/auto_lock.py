"""Locks an idle vault on time: the module looks at the clock only when it is called, so somebody has to call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TypeAlias

import msgspec

# Runs something once after so many seconds; the answer cancels that.
After: TypeAlias = Callable[[float, Callable[[], None]], Callable[[], None]]

# The calls after which a vault may be open that was not, or may lock itself at another time.
OPENING = frozenset({"generate", "load", "unlock", "import", "sync_complete", "set_auto_lock"})

_LONGEST_SECONDS = 60.0  # timers stand still while the machine sleeps: after waking, this is how late a lock may be
_SHORTEST_SECONDS = 0.01


class AutoLock:
    """When to look at a vault again. Not safe for threads by itself: `Enclave` calls it under its own lock."""

    def __init__(self, now: Callable[[], float], after: After) -> None:
        self._now, self._after = now, after
        self._cancel: Callable[[], None] | None = None

    def arm(self, status: bytes, look: Callable[[], None]) -> None:
        """Call `look` when the vault that this is the status of is due; never where it is locked, or never locks."""
        self.cancel()
        try:
            seen = msgspec.json.decode(status, type=_Status)
        except msgspec.ValidationError:  # the module had no memory even for this: look again later
            self._cancel = self._after(_LONGEST_SECONDS, look)
            return
        if seen.locked or not seen.idle_seconds or seen.last_activity is None:
            return
        due = seen.last_activity.timestamp() + seen.idle_seconds - self._now()
        self._cancel = self._after(min(max(due, _SHORTEST_SECONDS), _LONGEST_SECONDS), look)

    def cancel(self) -> None:
        """Forget it. Harmless to repeat."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None


def after(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """Run `work` once on a thread of its own after `seconds`; the answer cancels it. The process may end before."""
    timer = threading.Timer(seconds, work)
    timer.daemon, timer.name = True, "enclave-auto-lock"
    timer.start()
    return timer.cancel


class _Status(msgspec.Struct):
    locked: bool
    idle_seconds: int
    last_activity: datetime | None = None
