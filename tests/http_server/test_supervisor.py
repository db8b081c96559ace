"""The supervisor's races: told to stop while a worker is being started, and a start that the system refuses."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from holdfast.service.http_server import supervisor as supervisors
from holdfast.service.http_server.process import listening_sockets
from holdfast.service.http_server.supervisor import Supervisor

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


async def test_a_worker_still_being_started_hears_of_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(*_: object) -> asyncio.subprocess.Process:
        worker = await asyncio.create_subprocess_exec(*SLEEPER)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.1)  # the end is announced before the worker is known
        return worker

    monkeypatch.setattr(Supervisor, "_start", start)
    assert await asyncio.wait_for(Supervisor(listening_sockets("127.0.0.1", 0), 1, 20).run(), 10)


async def test_a_start_that_the_system_refuses_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[int] = []

    async def start(*_: object) -> asyncio.subprocess.Process:
        tries.append(1)
        if len(tries) < 3:
            raise BlockingIOError("no more processes")
        os.kill(os.getpid(), signal.SIGTERM)
        return await asyncio.create_subprocess_exec(*SLEEPER)

    monkeypatch.setattr(Supervisor, "_start", start)
    monkeypatch.setattr(supervisors, "_RESTART_AFTER_S", 0.01)
    assert await asyncio.wait_for(Supervisor(listening_sockets("127.0.0.1", 0), 1, 20).run(), 10)
    assert len(tries) == 3 and "no worker could be started" in caplog.text
