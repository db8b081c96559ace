"""Two threads wait for one worker, as granian's do."""

import os
import threading
from multiprocessing.context import ForkProcess

import pytest

from holdfast.service.http.worker_ends import Worker

ASKED_S = 0.3  # how long the status is known to one thread alone, unless the other asks meanwhile


@pytest.mark.parametrize(("kind", "seems_alive"), [(Worker, False), (ForkProcess, True)], ids=["ours", "Python's"])
def test_who_comes_second_learns_the_end(monkeypatch, kind, seems_alive):
    reaped, asked = threading.Event(), threading.Event()
    waitpid = os.waitpid

    def slow(pid, flag):
        answer = waitpid(pid, flag)
        if answer[0]:
            reaped.set()
            asked.wait(ASKED_S)
        return answer

    monkeypatch.setattr(os, "waitpid", slow)
    worker = kind(target=int)
    worker.start()
    first = threading.Thread(target=worker.join)
    first.start()
    assert reaped.wait(60)
    worker.join(60)
    alive = worker.is_alive()
    asked.set()
    first.join()
    assert alive == seems_alive
