"""A SIGTERM that arrives while workers are starting, or is sent to every process at once, ends all processes."""

import os
import signal

import psutil
import pytest
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.soak import cases

STARTS = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}}


def to_the_parent(server):
    server.process.send_signal(signal.SIGTERM)


def to_the_group(server):
    os.killpg(server.process.pid, signal.SIGTERM)


def to_the_workers_first(server):
    """The workers end before their parent runs again, as can happen with a signal to the whole group."""
    parent = psutil.Process(server.process.pid)
    workers = parent.children()
    parent.suspend()
    server.process.send_signal(signal.SIGTERM)
    for worker in workers:
        worker.terminate()
    ended = becomes_true(lambda: all(worker.status() == psutil.STATUS_ZOMBIE for worker in workers))
    parent.resume()
    assert ended


STOPS = {stop.__name__: stop for stop in (to_the_parent, to_the_group, to_the_workers_first)}


@pytest.mark.parametrize("stop", cases(STOPS, "to_the_workers_first"))
@pytest.mark.parametrize("settings", cases(STARTS, "RSGI"))
def test_a_stop_ends_workers_that_are_starting(serve, stop, settings):
    server = serve(workers="4", **settings)  # it responds as soon as the first of the four has started
    stop(server)
    assert server.process.wait(PATIENCE_S) == 0
    assert "refused to gracefully stop" not in server.log.read_text(), "a worker had to be killed"
