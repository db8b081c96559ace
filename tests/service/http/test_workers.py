"""How worker processes end: two threads wait for one, as granian's do, and a SIGTERM arrives while they start."""

import os
import signal
import threading

import psutil
from tests.support.serving import PATIENCE_S, becomes_true

from holdfast.service.http.worker_ends import Worker

ASKED_S = 0.3  # how long the status is known to one thread alone, unless the other asks meanwhile


def test_who_comes_second_learns_the_end(monkeypatch):
    reaped, asked = threading.Event(), threading.Event()
    waitpid = os.waitpid

    def slow(pid, flag):
        answer = waitpid(pid, flag)
        if answer[0]:
            reaped.set()
            asked.wait(ASKED_S)
        return answer

    monkeypatch.setattr(os, "waitpid", slow)
    worker = Worker(target=int)
    worker.start()
    first = threading.Thread(target=worker.join)
    first.start()
    assert reaped.wait(60)
    worker.join(60)
    alive = worker.is_alive()
    asked.set()
    first.join()
    assert not alive


def test_a_stop_ends_workers_that_are_starting(serve):
    """They end before their parent runs again, as can happen with a signal to the whole group."""
    server = serve(workers="4")  # it responds as soon as the first of the four has started
    parent = psutil.Process(server.process.pid)
    workers = parent.children()
    parent.suspend()
    server.process.send_signal(signal.SIGTERM)
    for worker in workers:
        worker.terminate()
    ended = becomes_true(lambda: all(worker.status() == psutil.STATUS_ZOMBIE for worker in workers))
    parent.resume()
    assert ended and server.process.wait(PATIENCE_S) == 0
    assert "refused to gracefully stop" not in server.log.read_text(), "a worker had to be killed"
