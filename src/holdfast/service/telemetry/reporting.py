"""A worker's reporting: every second it measures its process and writes its numbers for /metrics."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import holdfast
from holdfast.service.telemetry import metrics, tracing
from holdfast.service.telemetry.sharing import FLUSH_EVERY_S, WorkerFile
from holdfast.service.telemetry.trace_settings import traces_configured
from holdfast.wire.file_errors import file_words
from holdfast.wire.logs import Sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

FOLDER_VARIABLE = "_HOLDFAST_METRICS_FOLDER"  # set by `holdfast serve` for its workers
_log = logging.getLogger("holdfast.metrics")
_log.addFilter(Sparse(limit=1))  # a full disk is tried every second
_LAST_SPANS_S = 2.0
_STATM = Path("/proc/self/statm")


def prepare_telemetry(environment: Mapping[str, str]) -> None:
    """Enable the metrics and traces that the environment configures. Workers call this before building the service."""
    if environment.get(FOLDER_VARIABLE):
        metrics.reset()
        metrics.enable()
    if traces_configured(environment):
        from holdfast.service.telemetry.otlp import OtlpBackend  # needs the extra

        tracing.install(OtlpBackend())


class Telemetry:
    """One worker's metrics and traces, started with the service and stopped after it."""

    def __init__(self) -> None:
        self._reporter: Reporter | None = None

    def start(self, looks: Iterable[Callable[[], None]]) -> None:
        """Begin to write numbers, if metrics are enabled. Call this within the event loop."""
        folder = os.environ.get(FOLDER_VARIABLE)
        if metrics.enabled() and folder:
            self._reporter = Reporter(Path(folder), looks)

    async def stop(self) -> None:
        """Write the last numbers, and send the remaining spans within two seconds."""
        if self._reporter is not None:
            await self._reporter.close()
        backend = tracing.backend()
        if backend is not None:
            await asyncio.to_thread(backend.close, _LAST_SPANS_S)
            tracing.install(None)


class Reporter:
    """Writes this process's numbers until it is closed."""

    def __init__(self, folder: Path, looks: Iterable[Callable[[], None]] = ()) -> None:
        """`looks` set gauges before each write. A folder without room stops no service, but its metrics."""
        metrics.BUILD_INFO.set(1, holdfast.__version__)
        metrics.WORKERS.set(1)
        self._looks = [note_process, *looks]
        self._file = WorkerFile(folder)
        _tried(self._file.write)
        self._task = asyncio.create_task(self._report(), name="holdfast-metrics")

    async def close(self) -> None:
        """Stop the periodic writes, and write the last numbers."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        for look in self._looks:
            look()
        await asyncio.to_thread(_tried, self._file.close)

    async def _report(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + FLUSH_EVERY_S
            await asyncio.sleep(FLUSH_EVERY_S)
            metrics.LOOP_LAG.observe(max(0.0, loop.time() - due))
            for look in self._looks:
                look()
            await asyncio.to_thread(_tried, self._file.write)


def _tried(write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        _log.warning("metrics not written", extra={"why": file_words(error)})


def note_process() -> None:
    """Record this process's CPU time and memory."""
    metrics.CPU_SECONDS.cells[()] = time.process_time()
    try:
        resident_pages = int(_STATM.read_text("ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return  # not Linux
    metrics.RESIDENT_BYTES.set(resident_pages * os.sysconf("SC_PAGE_SIZE"))
