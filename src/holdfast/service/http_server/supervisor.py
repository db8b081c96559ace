"""Several processes on one port: started, replaced when they die, told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

_log = logging.getLogger("holdfast.http")
WORKER = "holdfast.service.http_server.worker"
_RESTART_AFTER_S = 0.2
_SURE_AFTER_S = 30.0  # a worker that lived this long did start, even on a machine under load
_FAILED_STARTS = 5


class Supervisor:
    """Keeps `count` workers alive on the given sockets.

    Workers hold the reading end of a pipe whose writing end is here, so that none outlives this process.
    """

    def __init__(self, sockets: Sequence[socket.socket], count: int, stop_within_s: float) -> None:
        self._sockets = sockets
        self._count = count
        self._stop_within_s = stop_within_s
        self._workers: set[asyncio.subprocess.Process] = set()
        self._ended = asyncio.Event()

    async def run(self) -> bool:
        """Until SIGTERM or SIGINT. False when workers could not be started."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ended.set)
        loop.add_signal_handler(signal.SIGHUP, self._tell, signal.SIGHUP)
        life, held = os.pipe()
        keepers = [asyncio.create_task(self._keep(life)) for _ in range(self._count)]
        end = asyncio.create_task(self._ended.wait())
        done, _ = await asyncio.wait([*keepers, end], return_when=asyncio.FIRST_COMPLETED)
        self._ended.set()
        for listening in self._sockets:
            listening.close()
        self._tell(signal.SIGTERM)
        _, late = await asyncio.wait(keepers, timeout=self._stop_within_s)
        if late:
            self._tell(signal.SIGKILL)
            await asyncio.wait(keepers)
        end.cancel()
        os.close(held)
        os.close(life)
        return end in done

    async def _keep(self, life: int) -> None:
        """One worker after another, until the end or until several in a row did not start."""
        failed = 0
        loop = asyncio.get_running_loop()
        while not self._ended.is_set() and failed < _FAILED_STARTS:
            began = loop.time()
            try:
                await self._live(await self._start(life))
            except OSError as error:  # no memory or no process to be had: perhaps in a moment
                _log.error("no worker could be started", extra={"why": str(error)})
            failed = failed + 1 if loop.time() - began < _SURE_AFTER_S else 0
            if not self._ended.is_set():
                await asyncio.sleep(_RESTART_AFTER_S)

    async def _live(self, worker: asyncio.subprocess.Process) -> None:
        self._workers.add(worker)
        if self._ended.is_set():  # while it was being started, so that it was told nothing
            worker.terminate()
        status = await worker.wait()
        self._workers.discard(worker)
        if not self._ended.is_set():
            _log.error("a worker ended", extra={"why": f"status {status}"})

    async def _start(self, life: int) -> asyncio.subprocess.Process:
        numbers = [listening.fileno() for listening in self._sockets]
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", WORKER, str(life), *map(str, numbers), pass_fds=[life, *numbers]
        )

    def _tell(self, number: signal.Signals) -> None:
        for worker in self._workers:
            with suppress(ProcessLookupError):
                worker.send_signal(number)
