"""Ensures that the end of a granian worker is noticed by each thread that waits for it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from multiprocessing.context import ForkProcess
from multiprocessing.popen_fork import Popen
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


class _WaitedForByThreads(Popen):
    """A forked process for which several threads may wait.

    Python's own class asks the system for the exit status in each thread. The second thread is told that there is no
    such process, and takes the process for alive until the first thread has noted the status.
    """

    def __init__(self, process: BaseProcess) -> None:
        self._noting = threading.Lock()
        super().__init__(process)

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        """Return the exit status; with flag 0 once the process has ended."""
        if self.returncode is None and flag == 0:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._noting:
            return super().poll(os.WNOHANG)


class Worker(ForkProcess):
    """A forked process whose end several threads may await."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802 - the name that multiprocessing calls
        return _WaitedForByThreads(process_obj)


def notice_ends_of_workers() -> None:
    """Fork workers as `Worker`.

    granian waits for a worker in two threads, and on a busy machine reported that a worker had to be killed that had
    stopped in time.
    """
    multiprocessing.get_context("fork").Process = Worker  # type: ignore[misc]  # granian asks this context
