"""Ensures that a granian worker ends when its parent does, and on SIGTERM or SIGINT, whenever the signal arrives.

granian's parent sends each worker a single SIGTERM, which a starting worker would lose. So both signals are blocked
from the fork until the event loop serves.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

    from granian.server.common import AbstractServer

PARENT_WATCH_S = 1.0
_ENDING = (signal.SIGTERM, signal.SIGINT)
_SERVES_AFTER_S = 0.2  # granian pauses the event loop between startup and service for a few milliseconds


@dataclass(slots=True)
class Stopping:
    """Whether this process was told to stop, and for how many seconds it then goes on serving."""

    begun: bool = False
    delay_s: float = 0.0


STOPPING = Stopping()


def end_with_parent() -> None:
    """Stop this worker if its parent process is killed: an orphan would keep the port and continue to serve."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        # Polling is necessary: workers inherit each other's pipes, so no pipe closes when the parent ends.
        while os.getppid() == parent.pid:
            time.sleep(PARENT_WATCH_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def hold_signals_of_workers() -> None:
    """Block SIGTERM and SIGINT in every worker that is forked from now on, until its event loop serves requests.

    A forked worker inherits its parent's handlers, which only set a flag in the worker's copy of the server, and uvloop
    loses signals while granian pauses it between startup and service. A worker that lost the signal would accept
    requests until it is killed.
    """
    os.register_at_fork(before=_block, after_in_parent=_unblock)


def stop_is_held() -> bool:
    """Return whether this worker was told to stop before it can handle the signal."""
    return not signal.sigpending().isdisjoint(_ENDING)


def handle_held_signals(loop: asyncio.AbstractEventLoop) -> None:
    """Handle SIGTERM and SIGINT from the moment at which the event loop serves requests. Call this after startup.

    The process goes on serving for `STOPPING.delay_s`, so that clients learn from its responses that their connections
    end; granian itself closes idle connections at once, also those on which a request is already on its way.
    """
    if multiprocessing.parent_process() is None:
        return

    def wait() -> None:
        signal.sigwait(_ENDING)
        STOPPING.begun = True
        time.sleep(STOPPING.delay_s)
        while signal.sigtimedwait(_ENDING, 0) is not None:
            pass  # one signal is enough for granian
        loop.call_soon_threadsafe(loop.call_later, _SERVES_AFTER_S, stop)

    def stop() -> None:
        _unblock()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="stop", daemon=True).start()


def stop_is_success(server: AbstractServer[Any]) -> None:
    """Make granian exit with 0 after SIGTERM or SIGINT, even if workers end before their parent asks them to.

    systemd's `KillMode=control-group` and Ctrl-C send the signal to every process. granian takes the early end of a
    worker for a failure, and exits with 1.
    """

    def forgive() -> None:
        if server.interrupt_signal:
            server.interrupt_children.clear()

    server.on_shutdown(forgive)


def _block() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
