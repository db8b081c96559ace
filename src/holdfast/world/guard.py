"""Runs a command so that it ends when its grandparent ends, for whatever reason: `python guard.py COMMAND…`.

The guard's standard input is a pipe whose other end the grandparent holds. When the grandparent ends, even by SIGKILL,
the pipe closes, and the guard ends the command's whole process group, first by SIGTERM and then by SIGKILL. If the
guard itself is killed, Linux kills the command (PR_SET_PDEATHSIG). The guard uses only the standard library, because it
is started with `-I -S` to save time.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE_S = 4.0
_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run `command` until it ends or has to be ended, and return its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends these to all processes; the grandparent decides
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    child = subprocess.Popen(  # noqa: S603 - the supervisor's own command lines
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - no thread exists yet
    )
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=_end, args=(child,), daemon=True).start())
    threading.Thread(target=_watch, args=(child,), daemon=True).start()
    code = child.wait()
    _signal_group(child, signal.SIGKILL)  # processes that the command left behind
    return code if code >= 0 else 128 - code


def _watch(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    _signal_group(child, signal.SIGTERM)
    time.sleep(PATIENCE_S)
    _signal_group(child, signal.SIGKILL)


def _signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS raises EPERM for a group of zombies
        os.killpg(child.pid, number)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
