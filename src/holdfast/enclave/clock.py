"""Epochs: what stops a call that would not end.

Counting every instruction ("fuel") costs more; an epoch is one comparison per loop. One daemon thread advances it while
any instance lives.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import wasmtime

TICK_SECONDS = 0.5

_living: weakref.WeakSet[object] = weakref.WeakSet()
_lock = threading.Lock()
_ticking = False


def ticks(seconds: float) -> int:
    """Epochs after which at least `seconds` have passed."""
    return int(seconds / TICK_SECONDS) + 1


def keep_ticking(engine: wasmtime.Engine, instance: object) -> None:
    """Advance the engine's epoch for as long as `instance` lives."""
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
