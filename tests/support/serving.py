"""Runs `holdfast serve` as a separate process on a real port."""

from __future__ import annotations

import base64
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.support import forked
from tests.support.forked import Process

from holdfast.world.processes import free_port

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
DID = "did:new:0x" + "11" * 32
CREDENTIAL = base64.urlsafe_b64encode(bytes(range(200, 232))).decode().rstrip("=")
# How long a condition may take to become true; the limit is long because a machine under load is slow.
PATIENCE_S = 60.0


@dataclass
class Server:
    process: Process | subprocess.Popen[str]
    port: int
    data: Path
    log: Path
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, timeout=PATIENCE_S, **more)

    def session(self, client: httpx2.Client, handle: str, ip: str) -> httpx2.Response:
        return client.post("/api/sessions", json={"handle": handle, "did": DID}, headers={"X-Forwarded-For": ip})

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def kill_all(self) -> None:
        """Kill the whole process group with SIGKILL, as in a power cut."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)


def environment_of(data: Path, **settings: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HOLDFAST_", "INNGEST_", "ATTESTATION_", "OTEL_"))
    }
    given = {name if name.isupper() else f"HOLDFAST_{name.upper()}": value for name, value in settings.items()}
    return {**kept, "HOLDFAST_DATA_DIR": str(data), "HOLDFAST_RPC_URL": "http://127.0.0.1:9", **given}


@contextlib.contextmanager
def running_server(
    data: Path, log: Path, /, *, wait: bool = True, prefix: tuple[str, ...] = (), port: int = 0, **settings: str
) -> Iterator[Server]:
    """Run a service, on any free port by default, which is killed afterwards."""
    port = port or free_port()
    arguments, environment = ["serve", "--port", str(port)], environment_of(data, **settings)
    if prefix:
        server = launched([*prefix, HOLDFAST, *arguments], environment, port, data, log)
    else:
        with Path(os.devnull).open() as nothing, log.open("w") as stream:
            files = (nothing.fileno(), stream.fileno(), stream.fileno())
            server = Server(forked.start(arguments, environment, files, new_session=True), port, data, log)
    try:
        if wait:
            wait_until_ready(server)
        yield server
    finally:
        server.kill_all()


def launched(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    port: int,
    data: Path,
    log: Path,
    host: str = "127.0.0.1",
    cwd: Path | None = None,
) -> Server:
    """Start a command that serves, in a process group of its own; its output is added to the log."""
    with log.open("a") as stream:
        process = subprocess.Popen(
            command, env=environment, stdout=stream, stderr=stream, text=True, start_new_session=True, cwd=cwd
        )
    return Server(process, port, data, log, host)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    with contextlib.ExitStack() as started:
        numbers = itertools.count()

        def start(data: Path | None = None, **more: Any) -> Server:
            number = next(numbers)
            folder, log = data or tmp_path / f"data{number}", tmp_path / f"log{number}.txt"
            return started.enter_context(running_server(folder, log, **more))

        yield start


def wait_until_ready(server: Server) -> None:
    def answers() -> bool:
        assert server.process.poll() is None, "the service did not start:\n" + server.log.read_text()
        return is_healthy(server.url)

    assert becomes_true(answers), "the service did not start:\n" + server.log.read_text()


def is_healthy(url: str) -> bool:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def wait_until_answering(client: httpx2.Client, path: str, log: Path) -> None:
    def answers() -> bool:
        with contextlib.suppress(httpx2.TransportError):
            return client.get(path).is_success
        return False

    assert becomes_true(answers), log.read_text()


def becomes_true(holds: Callable[[], bool]) -> bool:
    """Return whether `holds` returns true within the suite's time limit."""
    deadline = time.monotonic() + PATIENCE_S
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def plainly() -> list[str]:
    """Return the words before a command that take away root's right to read and write every file."""
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", "--bounding-set", rights, "--inh-caps", rights] if os.geteuid() == 0 else []
