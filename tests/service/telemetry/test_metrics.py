"""Metrics are well-formed, count every call, and are shared by a node's processes through files."""

import asyncio
import errno
import logging
import os
import re
import subprocess
import sys
import time

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from holdfast.chain.errors import TransportError
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.telemetry import metrics, reporting
from holdfast.service.telemetry.calls import OUTCOMES, calling
from holdfast.service.telemetry.collecting import HANGS_AFTER_S, NodeCollector
from holdfast.service.telemetry.metric_rows import LABEL_VALUES, ROWS, Kind
from holdfast.service.telemetry.metrics import REGISTRY
from holdfast.service.telemetry.reporting import Reporter
from holdfast.service.telemetry.sharing import WorkerFile, has_ended, read_numbers, worker_files
from holdfast.service.upstreams.proxy import UpstreamError
from holdfast.wire.logs import Sparse

# The service fixes each label's values: routes, methods, statuses, limits, PostgreSQL states, outcomes and release.
_FROM_TABLES = {"route", "method", "status", "limit", "state", "outcome", "version"}


def test_rows_follow_the_conventions_of_prometheus_and_are_counted():
    for row in ROWS:
        assert re.fullmatch(r"holdfast_[a-z0-9_]+", row.name), row.name
        assert row.name.endswith("_total") == (row.kind is Kind.COUNTER), row.name
        assert row.help.endswith(".") and "\n" not in row.help, row.name
        assert "le" not in row.labels and "job" not in row.labels and "instance" not in row.labels
        assert bool(row.buckets) == (row.kind is Kind.HISTOGRAM), row.name
        assert list(row.buckets) == sorted(set(row.buckets)), row.name
    assert {label for row in ROWS for label in row.labels} == _FROM_TABLES | set(LABEL_VALUES), "each has few values"
    assert set(REGISTRY) == {row.name for row in ROWS}


@pytest.fixture(autouse=True)
def numbers():
    metrics.reset()
    yield
    metrics.reset()


@pytest.mark.parametrize(("error", "outcome"), [
    (DeliveryError("refused", "HTTP 422"), "refused"),
    (DeliveryError("nonsense"), "nonsense"),
    (UpstreamError("ClientConnectorError", "unreachable"), "unreachable"),
    (UpstreamError("TimeoutError", "timeout"), "timeout"),
    (TransportError("no answer"), "unreachable"),
    (TransportError("HTTP status 500", 500), "refused"),
    (TimeoutError(), "timeout"),
    (RuntimeError("a bug"), "error"),
    (DeliveryError("ann@example.com"), "error"),
    (asyncio.CancelledError(), "cancelled"),
])  # fmt: skip
def test_an_exception_names_the_outcome(error, outcome):
    with pytest.raises(type(error)), calling("mail"):
        raise error
    assert metrics.PROVIDER_CALLS.cells == {("mail", outcome): 1} and outcome in OUTCOMES
    assert list(metrics.PROVIDER_SECONDS.cells) == [("mail",)]


def test_other_calls_are_counted_too():
    with calling("sms"):
        pass
    assert metrics.PROVIDER_CALLS.cells == {("sms", "ok"): 1}
    assert metrics.PROVIDER_SECONDS.cells["sms",][0] == 1
    with pytest.raises(asyncio.CancelledError), calling("chain", cancelled="timeout"):
        raise asyncio.CancelledError
    assert metrics.PROVIDER_CALLS.cells["chain", "timeout"] == 1, "a cancelled call to a chain took too long"
    with pytest.raises(AssertionError), calling("elsewhere"):
        pass


# A worker process that counts as often as its arguments say, waits for a line of input, and exits.
WORKER = """
import sys, time
from pathlib import Path
from holdfast.service.telemetry import metrics
from holdfast.service.telemetry.sharing import WorkerFile
file = WorkerFile(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    metrics.ANSWERED.add("/api/dids", "POST", 200, 0.002)
metrics.WORKERS.set(1)
metrics.JOB_SUCCESS.set(float(sys.argv[2]), "expire")
metrics.SNAPSHOTS.set(float(sys.argv[2]))
file.write()
print("counted", flush=True)
sys.stdin.readline()
"""


def start(folder, count):
    command = [sys.executable, "-c", WORKER, str(folder), str(count)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None and worker.stdout.readline() == "counted\n"
    return worker


def shown(collector):
    """Return the values that Prometheus reads, by metric name and label values."""
    registry = CollectorRegistry()
    registry.register(collector)
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (s.name, *(s.labels[name] for name in sorted(s.labels))): s.value for family in families for s in family.samples
    }


def test_counters_add_up_and_survive_their_process_while_gauges_end_with_it(tmp_path):
    collector = NodeCollector(tmp_path, lambda: 0.0)
    workers = [start(tmp_path, 3), start(tmp_path, 5)]
    before = shown(collector)
    workers[0].kill()
    workers[0].wait()
    between, again = shown(collector), shown(collector)
    assert len(worker_files(tmp_path)) == 1  # the reader keeps the sums of the process that ended
    workers.append(start(tmp_path, 2))
    after = shown(collector)
    hung = shown(NodeCollector(tmp_path, lambda: time.time() + HANGS_AFTER_S))
    for worker in workers:
        worker.kill()
        worker.communicate()

    requests = ("holdfast_requests_total", "POST", "/api/dids", "200")
    assert [state[requests] for state in (before, between, again, after)] == [8, 8, 8, 10]
    assert before["holdfast_request_seconds_bucket", "0.0025", "/api/dids"] == 8
    assert before["holdfast_request_seconds_bucket", "0.001", "/api/dids"] == 0
    assert before["holdfast_request_seconds_count", "/api/dids"] == 8
    assert before["holdfast_request_seconds_sum", "/api/dids"] == pytest.approx(0.016)
    assert [state["holdfast_workers",] for state in (before, between, after, hung)] == [2, 1, 2, 0]
    assert [state["holdfast_snapshots",] for state in (before, between, after, hung)] == [5, 5, 2, 2]
    assert after["holdfast_job_last_success_timestamp_seconds", "expire"] == 5


def test_every_metric_of_the_table_is_shown_with_its_help(tmp_path):
    registry = CollectorRegistry()
    registry.register(NodeCollector(tmp_path))
    families = {family.name: family for family in text_string_to_metric_families(generate_latest(registry).decode())}
    assert {row.name.removesuffix("_total") for row in ROWS} == set(families)
    assert all(families[row.name.removesuffix("_total")].documentation == row.help for row in ROWS)


def test_what_is_half_written_is_not_read(tmp_path):
    file = WorkerFile(tmp_path)
    metrics.LIMITS_HIT.add("sends")
    file.write()
    (path,) = worker_files(tmp_path)
    assert not has_ended(path)
    assert path.stat().st_mode & 0o777 == 0o600 and path.name.startswith(f"{os.getpid()}-")
    whole = path.read_bytes()
    for broken in (whole[:-3], whole[:8], b"", whole[:-3] + b"\0\0\0"):
        path.write_bytes(broken)
        assert read_numbers(path) is None
    path.write_bytes(whole)
    shared = read_numbers(path)
    assert shared is not None and [(tuple(a), b) for a, b in shared.numbers["holdfast_limits_hit_total"]] == [(("sends",), 1.0)]  # fmt: skip
    file.close()
    assert has_ended(path)
    with pytest.raises(AssertionError):
        metrics.LIMITS_HIT.add()
    with pytest.raises(KeyError):
        metrics.Counter("holdfast_unheard_of_total")


async def test_how_late_the_event_loop_is_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, "FLUSH_EVERY_S", 0.01)
    began, measured = time.monotonic(), asyncio.Event()
    reporter = Reporter(tmp_path, [measured.set])
    await measured.wait()
    await reporter.close()
    assert 0 <= metrics.LOOP_LAG.cells[()][-1] < time.monotonic() - began


async def test_a_full_disk_stops_no_worker_and_its_numbers_are_written_once_there_is_room(
    tmp_path, monkeypatch, caplog
):
    """A worker that started on a full disk used to end, and after a few such ends the whole service."""
    monkeypatch.setattr(reporting, "FLUSH_EVERY_S", 0.01)
    monkeypatch.setattr(logging.getLogger("holdfast.metrics"), "filters", [Sparse(limit=1)])
    written = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "no space")))
    reporter = Reporter(tmp_path)
    assert list(tmp_path.iterdir()) == [], "not even an empty file"
    assert [record.why for record in caplog.records] == ["the disk is full"]
    monkeypatch.setattr(os, "pwrite", written)
    while not worker_files(tmp_path):
        await asyncio.sleep(0.01)
    (file,) = worker_files(tmp_path)
    assert read_numbers(file) is not None and not has_ended(file)
    monkeypatch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "no space")))
    await reporter.close()
    assert has_ended(file), "closing releases the lock all the same"
