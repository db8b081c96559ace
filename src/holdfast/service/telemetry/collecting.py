"""Adds up the numbers of a node's processes and exposes the sums through Prometheus' client library."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from holdfast.service.telemetry import metrics
from holdfast.service.telemetry.metric_rows import BY_NAME, ROWS, Across, Kind, MetricRow
from holdfast.service.telemetry.sharing import has_ended, read_numbers, worker_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from prometheus_client.core import Metric

    from holdfast.service.telemetry.sharing import Cells, Shared

HANGS_AFTER_S = 60.0  # a worker writes its numbers every second
Labels = tuple[str, ...]
Sums = dict[str, dict[Labels, Any]]


class NodeCollector:
    """A collector for prometheus-client. Reads the folder's files on every request for /metrics."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        """`now` is the clock of the workers. One that has written nothing for long hangs, and serves no requests."""
        self._folder = folder
        self._now = now
        self._ended: Sums = {}  # the counts of processes that have ended
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        """Yield every metric in the table, even those that have not counted anything."""
        with self._lock:
            sums = self._sums()
        for row in ROWS:
            yield _family(row, sums.get(row.name, {}))

    def _sums(self) -> Sums:
        running: list[Shared] = []
        for file in worker_files(self._folder):
            ended = has_ended(file)  # checked before reading, so that its last write is not missed
            numbers = read_numbers(file)
            if numbers is None:
                continue
            if ended:
                _add(self._ended, numbers.numbers, lasting=True)
                file.unlink(missing_ok=True)
            else:
                running.append(numbers)
        sums = {name: {labels: _copy(cell) for labels, cell in cells.items()} for name, cells in self._ended.items()}
        for shared in sorted(running, key=lambda shared: shared.written_at):
            if shared.written_at < self._now() - HANGS_AFTER_S:
                shared.numbers.pop(metrics.WORKERS.row.name, None)
            _add(sums, shared.numbers, lasting=False)
        return sums


def _copy(cell: Any) -> Any:
    return list(cell) if isinstance(cell, list) else cell


def _add(sums: Sums, numbers: dict[str, Cells], *, lasting: bool) -> None:
    """Add one process's numbers.

    `lasting` leaves out gauges that are only valid while the process is running.
    """
    for name, cells in numbers.items():
        row = BY_NAME.get(name)
        if row is None or (lasting and row.kind is Kind.GAUGE and row.across is not Across.LARGEST):
            continue
        mine = sums.setdefault(name, {})
        for labels, cell in cells:
            key = tuple(labels)
            mine[key] = _joined(row, mine[key], cell) if key in mine else _copy(cell)


def _joined(row: MetricRow, one: Any, other: Any) -> Any:
    if row.kind is Kind.HISTOGRAM:
        return [a + b for a, b in zip(one, other, strict=True)]
    if row.kind is Kind.COUNTER or row.across is Across.SUM:
        return one + other
    return other if row.across is Across.LATEST else max(one, other)


def _family(row: MetricRow, cells: dict[Labels, Any]) -> Metric:
    if row.kind is Kind.HISTOGRAM:
        return _histogram(row, cells.items())
    family: CounterMetricFamily | GaugeMetricFamily
    family = (CounterMetricFamily if row.kind is Kind.COUNTER else GaugeMetricFamily)(
        row.name, row.help, labels=row.labels
    )
    for labels, value in sorted(cells.items()):
        family.add_metric(labels, value)
    if not row.labels and not cells and row.across is Across.SUM:  # of no process
        family.add_metric((), 0.0)
    return family


def _histogram(row: MetricRow, cells: Iterable[tuple[Labels, list[float]]]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(row.name, row.help, labels=row.labels)
    bounds = [*(f"{bound:g}" for bound in row.buckets), "+Inf"]
    for labels, (*counts, total) in sorted(cells):
        running, buckets = 0.0, []
        for bound, count in zip(bounds, counts, strict=True):
            running += count
            buckets.append((bound, running))
        family.add_metric(labels, buckets, total)
    return family
