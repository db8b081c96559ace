"""Starts servers under test on separate cores, measures their CPU time and memory, and always stops them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from bench import cores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
POLL_S = 0.001


class StartError(RuntimeError):
    """Raised if a server did not start; the message contains the end of its log."""


@dataclass(slots=True)
class Server:
    """A running server, including its child processes."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    started_in_s: float = 0.0

    def cpu_s(self) -> float:
        """Return the CPU seconds (user and system) that its live processes have used, as counted by the scheduler."""
        return tree_cpu_s(self.process.pid)

    def memory_mb(self) -> float:
        """Return the server's memory in MB, counting pages shared by its processes once (PSS)."""
        return sum(process.memory_full_info().pss for process in _tree(self.process.pid)) / 1e6


def tree_cpu_s(root: int) -> float:
    """Return the CPU seconds (user and system) of a process and all its live descendants."""
    return sum(time.clock_gettime(_cpu_clock(process.pid)) for process in _tree(root))


def _tree(root: int) -> list[psutil.Process]:
    process = psutil.Process(root)
    return [process, *process.children(recursive=True)]


def _cpu_clock(pid: int) -> int:
    """Return the ID of a process's CPU clock, like clock_getcpuclockid(3); psutil's `cpu_times` has steps of 10 ms."""
    return ~pid << 3 | 2


@contextmanager
def serving(
    name: str,
    command: list[str],
    environment: dict[str, str],
    port: int,
    log: Path,
    *,
    on: frozenset[int] = cores.SERVER,
) -> Iterator[Server]:
    """Start a server, wait until /healthz returns 200, and stop it and its children afterwards."""
    begun = time.monotonic()
    with log.open("ab") as output, cores.children_on(on):
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=output, stderr=output, start_new_session=True
        )
    server = Server(name, port, process, log)
    try:
        _wait_until_up(server)
        server.started_in_s = time.monotonic() - begun
        yield server
    finally:
        _end(process)


def _wait_until_up(server: Server) -> None:
    give_up = time.monotonic() + START_TIMEOUT_S
    while not _healthy(server.port):
        if server.process.poll() is not None or time.monotonic() > give_up:
            raise StartError(f"{server.name} did not start:\n{server.log.read_text(errors='replace')[-2000:]}")
        time.sleep(POLL_S)


def _healthy(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            pass
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_TIMEOUT_S)
    _signal(process, signal.SIGKILL)  # whatever is left of the process group
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
