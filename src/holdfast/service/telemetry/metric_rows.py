"""The table of metrics. Code, documentation, dashboard and alerts use only metrics that are declared in this table.

No label contains anything chosen by a client. Every label has few values: routes, methods and errors come from the
service's tables, and all other values are listed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)
_QUICK_SECONDS = (0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 2.5)
_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Kind(StrEnum):
    """Prometheus' metric types."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Across(StrEnum):
    """How a gauge's values in a node's processes are combined. Counters and histograms are always summed."""

    SUM = "sum"  # over the running processes
    LATEST = "latest"  # every process reports the same fact; the newest report counts
    LARGEST = "largest"  # including processes that have ended


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric.

    Attributes:
        name: the name in Prometheus; counters end in `_total`.
        labels: the names of its labels.
        help: what it measures, in one sentence for operators.
        buckets: a histogram's upper bucket bounds, ascending.
        across: for gauges, how processes are combined.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()
    across: Across = Across.SUM


def _counter(name: str, text: str, *labels: str) -> MetricRow:
    return MetricRow(name, Kind.COUNTER, labels, text)


def _gauge(name: str, text: str, *labels: str, across: Across = Across.SUM) -> MetricRow:
    return MetricRow(name, Kind.GAUGE, labels, text, across=across)


def _histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = _SECONDS) -> MetricRow:
    return MetricRow(name, Kind.HISTOGRAM, labels, text, buckets)


_L = Across.LATEST
ROWS = (
    # Requests
    _counter("holdfast_requests_total", "Answers.", "route", "method", "status"),
    _histogram("holdfast_request_seconds", "Time to answer, in seconds.", "route"),
    _gauge("holdfast_requests_in_progress", "Requests that are being answered."),
    _counter("holdfast_limits_hit_total", "Requests refused because a limit was reached.", "limit"),
    # Store
    _histogram(
        "holdfast_store_seconds",
        "Time from asking the store to its result, in seconds. Writes: until durable. Reads of SQLite: a sample.",
        "work",
        buckets=_QUICK_SECONDS,
    ),
    _histogram("holdfast_store_batch_seconds", "Time of one commit or round trip, in seconds.", "work"),
    _histogram("holdfast_store_batch_size", "Requests in one commit or round trip.", "work", buckets=_SIZES),
    _counter("holdfast_store_failures_total", "Requests that the store could not serve.", "work"),
    _gauge("holdfast_store_waiting", "Requests that wait for the store.", "work"),
    _gauge("holdfast_store_connections", "Connections to PostgreSQL.", "work", "state"),
    _counter("holdfast_store_connections_lost_total", "Connections to PostgreSQL that failed."),
    _gauge("holdfast_store_standbys", "Standbys of PostgreSQL that are connected.", "state", across=_L),
    _gauge("holdfast_store_standby_required", "1 if commits wait for a standby, else 0.", across=_L),
    _gauge("holdfast_store_clock_offset_seconds", "This machine's clock minus the database server's.", across=_L),
    # Registrations
    _gauge("holdfast_confirmations_pending", "Registrations that wait for the chain; counted up to 10000.", across=_L),
    _gauge("holdfast_confirmations_overdue_seconds", "How late the check that is due longest is.", across=_L),
    _counter("holdfast_confirmations_total", "Registrations checked on the chain.", "outcome"),
    # Sponsor
    _gauge(
        "holdfast_sponsor_deposit_ether",
        "The sponsor's deposit; the smallest of all chains.",
        across=_L,
    ),
    _gauge("holdfast_sponsor_deposit_low", "1 if a deposit is below HOLDFAST_SPONSOR_LOW, else 0.", across=_L),
    _counter("holdfast_sponsored_total", "Requests to the sponsor.", "outcome"),
    # Providers
    _counter("holdfast_provider_calls_total", "Calls to providers.", "provider", "outcome"),
    _histogram("holdfast_provider_seconds", "Time of a call to a provider, in seconds.", "provider"),
    # Events
    _counter("holdfast_events_total", "Deliveries of events.", "receiver", "outcome"),
    _gauge("holdfast_events_waiting", "Events that wait for delivery; counted up to 10000.", across=_L),
    _gauge("holdfast_events_oldest_seconds", "Age of the oldest event that waits.", across=_L),
    # Background jobs
    _counter("holdfast_job_runs_total", "Runs of background jobs.", "task", "outcome"),
    _histogram("holdfast_job_seconds", "Time of a run, in seconds.", "task"),
    _gauge(
        "holdfast_job_last_success_timestamp_seconds",
        "When a run succeeded last, in seconds since the epoch.",
        "task",
        across=Across.LARGEST,
    ),
    _gauge("holdfast_leases_held", "Leases of background jobs that this node holds.", "task"),
    # Snapshots
    _gauge("holdfast_snapshots", "Kept snapshots.", across=_L),
    _gauge("holdfast_snapshot_pins", "Pins of snapshots.", across=_L),
    _gauge("holdfast_snapshot_bytes", "Bytes of stored blocks.", across=_L),
    # Processes
    _gauge("holdfast_workers", "Processes that serve requests."),
    _gauge("holdfast_build_info", "1; the label says which release runs.", "version", across=_L),
    _counter("holdfast_process_cpu_seconds_total", "CPU time of the processes, in seconds."),
    _gauge("holdfast_process_resident_bytes", "Memory of the processes."),
    _histogram("holdfast_event_loop_lag_seconds", "How late a timer of the event loop is, in seconds."),
    _gauge("holdfast_disk_free_bytes", "Bytes that the data folder's file system has left.", across=_L),
    _counter("holdfast_spans_total", "Spans of traces that were sent to the collector.", "outcome"),
)
BY_NAME = {row.name: row for row in ROWS}

# Label values that no other table lists.
LABEL_VALUES: dict[str, tuple[str, ...]] = {
    "work": ("read", "write"),
    "provider": ("mail", "sms", "chain", "chain_8453", "chain_other", "bundler", "indexer", "enclave", "snapshots"),
    "task": (
        "confirm",
        "expire",
        "snapshots",
        "enclave",
        "reserved",
        "measure",
        "recoveries",
        "sponsor",
        "events_webhook",
        "events_engine",
    ),
    "receiver": ("webhook", "engine"),
}
