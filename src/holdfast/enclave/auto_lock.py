"""Locks an idle vault on time: a timer calls the enclave's module, which checks the clock only when it is called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime  # noqa: TC003 - msgspec reads the annotation
from typing import TypeAlias

import msgspec

# Runs a function once after this number of seconds, and returns a function that cancels the timer.
After: TypeAlias = Callable[[float, Callable[[], None]], Callable[[], None]]

# The enclave's functions that may unlock a vault or change the time at which it is locked.
OPENING = frozenset({"generate", "load", "unlock", "import", "sync_complete", "set_auto_lock"})

_LONGEST_SECONDS = 60.0  # timers stop while the machine sleeps: after waking, a lock may be this late
_SHORTEST_SECONDS = 0.01


class AutoLock:
    """The timer for the next check of a vault's idle time.

    Not thread-safe: `Enclave` uses this class under its own lock.
    """

    def __init__(self, now: Callable[[], float], after: After) -> None:
        self._now, self._after = now, after
        self._cancel: Callable[[], None] | None = None

    def arm(self, status: bytes, look: Callable[[], None]) -> None:
        """Schedule `look` for when a vault with this status must be locked, unless it is locked or never locks."""
        self.cancel()
        try:
            seen = msgspec.json.decode(status, type=_Status)
        except msgspec.ValidationError:  # the module had too little memory for the response: try again later
            self._cancel = self._after(_LONGEST_SECONDS, look)
            return
        if seen.locked or not seen.idle_seconds or seen.last_activity is None:
            return
        due = seen.last_activity.timestamp() + seen.idle_seconds - self._now()
        self._cancel = self._after(min(max(due, _SHORTEST_SECONDS), _LONGEST_SECONDS), look)

    @property
    def is_armed(self) -> bool:
        """Whether a check is scheduled, which is so unless the vault is locked or never locks."""
        return self._cancel is not None

    def cancel(self) -> None:
        """Cancel the timer. Repeated calls have no effect."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None


def after(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """Run `work` once after `seconds`, in a thread that does not keep the process alive.

    Return a function that cancels the timer.
    """
    timer = threading.Timer(seconds, work)
    timer.daemon, timer.name = True, "enclave-auto-lock"
    timer.start()
    return timer.cancel


class _Status(msgspec.Struct):
    locked: bool
    idle_seconds: int
    last_activity: datetime | None = None
