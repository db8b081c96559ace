"""Prometheus metrics, collected only if an admin port is set; several processes share them through files."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.service.metrics_folder import metrics_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)


class Metrics:
    """Counts responses and their durations by route. No label contains anything that a client chose freely."""

    def __init__(self) -> None:
        # Imported here: it reads the directory variable on import, and most services never need it.
        from prometheus_client import Counter, Gauge, Histogram

        labels = ("route", "method", "status")
        self._requests = Counter("holdfast_requests_total", "Answers by route, method and status.", labels)
        self._seconds = Histogram("holdfast_request_seconds", "Time to answer.", ("route",), buckets=_BUCKETS_S)

        # Every process reports the same totals; the latest report counts.
        self._snapshots = Gauge("holdfast_snapshots", "Kept snapshots.", multiprocess_mode="mostrecent")
        self._pins = Gauge("holdfast_snapshot_pins", "Pins of snapshots.", multiprocess_mode="mostrecent")
        self._bytes = Gauge("holdfast_snapshot_bytes", "Bytes of kept blocks.", multiprocess_mode="mostrecent")

    def report_snapshots(self, snapshots: int, pins: int, size: int) -> None:
        """State how many snapshots and pins are kept, and how many bytes their blocks have."""
        self._snapshots.set(snapshots)
        self._pins.set(pins)
        self._bytes.set(size)

    def observe(self, path: str, method: str, status: int, seconds: float) -> None:
        """Count one response. Path and method come from the table of endpoints, never from the client."""
        self._requests.labels(path, method, str(status)).inc()
        self._seconds.labels(path).observe(seconds)


@contextmanager
def shared_directory() -> Iterator[None]:
    """A directory for the processes' files, named in the environment before workers start, and removed at the end."""
    with metrics_folder() as folder:
        os.environ[DIRECTORY_VARIABLE] = str(folder)
        yield


def serve(host: str, port: int) -> None:
    """Answer GET /metrics on the admin port, in a thread of this process, from all workers' files."""
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    start_http_server(port, addr=host, registry=registry)
