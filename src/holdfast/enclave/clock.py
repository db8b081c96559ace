"""Ends calls to the module that take too long, by wasmtime's epoch interruption.

Checking the epoch costs one comparison per loop iteration, which is less than counting instructions ("fuel") costs. A
daemon thread advances the epoch while any instance exists.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import wasmtime

TICK_SECONDS = 0.5


class Instance(Protocol):
    """An instance of the enclave's module; the epoch advances while one exists."""

    def left_behind(self) -> None:
        """Erase a forked child's copy of the instance, which belongs to the parent."""


_living: weakref.WeakSet[Instance] = weakref.WeakSet()
_lock = threading.Lock()
_ticking = False


def ticks(seconds: float) -> int:
    """Return the number of epochs after which at least `seconds` have passed."""
    return int(seconds / TICK_SECONDS) + 1


def keep_ticking(engine: wasmtime.Engine, instance: Instance) -> None:
    """Advance the engine's epoch while `instance` exists."""
    global _ticking  # noqa: PLW0603 - one thread per process
    with _lock:
        _living.add(instance)
        if not _ticking:
            _ticking = True
            threading.Thread(target=_tick, args=(engine,), name="enclave-epoch", daemon=True).start()


def _tick(engine: wasmtime.Engine) -> None:
    global _ticking  # noqa: PLW0603 - one thread per process
    while True:
        time.sleep(TICK_SECONDS)
        engine.increment_epoch()
        with _lock:
            if not _living:
                _ticking = False
                return


def _after_fork() -> None:
    # The parent's threads do not exist in the child, and one of them may have held the lock.
    global _lock, _ticking
    _lock, _ticking = threading.Lock(), False
    for instance in list(_living):
        instance.left_behind()
    _living.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
