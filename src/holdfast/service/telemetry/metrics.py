"""Counts what one process does, in plain dictionaries, so that counting is cheap.

`sharing.py` collects the numbers of all of a node's processes for Prometheus.
"""

from __future__ import annotations

from bisect import bisect_left

from holdfast.service.telemetry.metric_rows import BY_NAME, Kind, MetricRow

Labels = tuple[str, ...]
REGISTRY: dict[str, Counter | Gauge | Histogram] = {}


class _Metric:
    """A declared metric. Constructing a metric twice, or one without a row in the table, is an error."""

    __slots__ = ("row",)
    kind: Kind

    def __init__(self, name: str) -> None:
        self.row: MetricRow = BY_NAME[name]
        assert self.row.kind is self.kind, name
        assert name not in REGISTRY, name
        REGISTRY[name] = self  # type: ignore[assignment]  # only subclasses are made

    def _require_labels(self, labels: Labels) -> None:
        assert len(labels) == len(self.row.labels), (self.row.name, labels)


class Counter(_Metric):
    """A sum that only grows."""

    __slots__ = ("cells",)
    kind = Kind.COUNTER

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cells: dict[Labels, float] = {}

    def add(self, *labels: str, by: float = 1.0) -> None:
        """Increase the value for these labels."""
        try:
            self.cells[labels] += by
        except KeyError:
            self._require_labels(labels)
            self.cells[labels] = by


class Gauge(_Metric):
    """A value that can rise and fall."""

    __slots__ = ("cells",)
    kind = Kind.GAUGE

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cells: dict[Labels, float] = {}

    def set(self, value: float, *labels: str) -> None:
        """Set the value for these labels."""
        self._require_labels(labels)
        self.cells[labels] = value


class Histogram(_Metric):
    """Counts values by bucket. A cell is a list with a count for each bucket, followed by the sum of the values."""

    __slots__ = ("_bounds", "_sum_at", "cells")
    kind = Kind.HISTOGRAM

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cells: dict[Labels, list[float]] = {}
        self._bounds = self.row.buckets
        self._sum_at = len(self._bounds) + 1

    def observe(self, value: float, *labels: str) -> None:
        """Count one value."""
        try:
            cell = self.cells[labels]
        except KeyError:
            self._require_labels(labels)
            cell = self.cells[labels] = [0.0] * (self._sum_at + 1)
        cell[bisect_left(self._bounds, value)] += 1
        cell[self._sum_at] += value


REQUESTS = Counter("holdfast_requests_total")
REQUEST_SECONDS = Histogram("holdfast_request_seconds")
IN_PROGRESS = Gauge("holdfast_requests_in_progress")
LIMITS_HIT = Counter("holdfast_limits_hit_total")
STORE_SECONDS = Histogram("holdfast_store_seconds")
BATCH_SECONDS = Histogram("holdfast_store_batch_seconds")
BATCH_SIZE = Histogram("holdfast_store_batch_size")
STORE_FAILURES = Counter("holdfast_store_failures_total")
STORE_WAITING = Gauge("holdfast_store_waiting")
STORE_CONNECTIONS = Gauge("holdfast_store_connections")
CONNECTIONS_LOST = Counter("holdfast_store_connections_lost_total")
STANDBYS = Gauge("holdfast_store_standbys")
STANDBY_REQUIRED = Gauge("holdfast_store_standby_required")
CLOCK_OFFSET = Gauge("holdfast_store_clock_offset_seconds")
CONFIRMATIONS_PENDING = Gauge("holdfast_confirmations_pending")
CONFIRMATIONS_OVERDUE = Gauge("holdfast_confirmations_overdue_seconds")
CONFIRMATIONS = Counter("holdfast_confirmations_total")
SPONSOR_DEPOSIT = Gauge("holdfast_sponsor_deposit_ether")
SPONSOR_LOW = Gauge("holdfast_sponsor_deposit_low")
SPONSORED = Counter("holdfast_sponsored_total")
PROVIDER_CALLS = Counter("holdfast_provider_calls_total")
PROVIDER_SECONDS = Histogram("holdfast_provider_seconds")
EVENTS = Counter("holdfast_events_total")
EVENTS_WAITING = Gauge("holdfast_events_waiting")
EVENTS_OLDEST = Gauge("holdfast_events_oldest_seconds")
JOB_RUNS = Counter("holdfast_job_runs_total")
JOB_SECONDS = Histogram("holdfast_job_seconds")
JOB_SUCCESS = Gauge("holdfast_job_last_success_timestamp_seconds")
LEASES_HELD = Gauge("holdfast_leases_held")
SNAPSHOTS = Gauge("holdfast_snapshots")
SNAPSHOT_PINS = Gauge("holdfast_snapshot_pins")
SNAPSHOT_BYTES = Gauge("holdfast_snapshot_bytes")
WORKERS = Gauge("holdfast_workers")
BUILD_INFO = Gauge("holdfast_build_info")
CPU_SECONDS = Counter("holdfast_process_cpu_seconds_total")
RESIDENT_BYTES = Gauge("holdfast_process_resident_bytes")
LOOP_LAG = Histogram("holdfast_event_loop_lag_seconds")
DISK_FREE = Gauge("holdfast_disk_free_bytes")
SPANS = Counter("holdfast_spans_total")


class AnsweredRequests:
    """Counts responses and records their times in one step, to save time on every request. `tell` separates the two."""

    __slots__ = ("cells", "in_progress")

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str, int], list[float]] = {}
        self.in_progress = 0

    def add(self, path: str, method: str, status: int, seconds: float) -> None:
        """Count one response. The path and the method come from the table of endpoints, never from the client."""
        try:
            cell = self.cells[path, method, status]
        except KeyError:
            cell = self.cells[path, method, status] = [0.0] * (len(_REQUEST_BOUNDS) + 2)
        cell[bisect_left(_REQUEST_BOUNDS, seconds)] += 1
        cell[-1] += seconds

    def tell(self) -> None:
        """Transfer the counts to the metrics."""
        IN_PROGRESS.set(self.in_progress)
        by_route: dict[Labels, list[float]] = {}
        for (path, method, status), cell in list(self.cells.items()):
            REQUESTS.cells[path, method, str(status)] = sum(cell[:-1])
            known = by_route.get((path,))
            by_route[path,] = list(cell) if known is None else [a + b for a, b in zip(known, cell, strict=True)]
        REQUEST_SECONDS.cells.update(by_route)


_REQUEST_BOUNDS = REQUEST_SECONDS.row.buckets
ANSWERED = AnsweredRequests()
_enabled = False


def enable() -> None:
    """Enable counting in hot paths too. Call this before the service is built."""
    global _enabled  # noqa: PLW0603 - one choice of the whole process
    _enabled = True


def enabled() -> bool:
    """Return whether metrics are enabled, so that hot paths must count too."""
    return _enabled


def snapshot() -> dict[str, list[tuple[Labels, object]]]:
    """Return a copy of all numbers, even while other threads are counting."""
    ANSWERED.tell()
    return {name: list(metric.cells.copy().items()) for name, metric in REGISTRY.items()}


def reset() -> None:
    """Reset all numbers, so that a forked worker does not report its parent's numbers again."""
    ANSWERED.cells.clear()
    for metric in REGISTRY.values():
        metric.cells.clear()
