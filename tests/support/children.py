"""Makes programs that a test starts exit with the test run, even if the run is killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return a `preexec_fn` that sets PR_SET_PDEATHSIG to this signal on Linux, or None on other systems."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, number) and None


@contextlib.contextmanager
def running(command: Sequence[str], log: Path, **environment: str) -> Iterator[None]:
    """Run a program until the block ends, or at the latest until this process ends."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={"PATH": os.defpath, **environment},
            preexec_fn=dying_with_parent(signal.SIGTERM),  # noqa: PLW1509 - one prctl, no locks
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)
