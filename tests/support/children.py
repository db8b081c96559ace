"""Makes programs that a test starts exit with the test run, even if the run is killed."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable


def dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return a `preexec_fn` that sets PR_SET_PDEATHSIG to this signal on Linux, or None on other systems."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, number) and None
