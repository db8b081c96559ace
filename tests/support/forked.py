"""Starts `holdfast` in processes that are forked from one that has imported it: importing costs more than most commands.

The tests of the packages and the examples start the installed command instead.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import IO, Any

from holdfast.cli.root import COMMANDS, command_of

# What commands import when they run; `serve` imports the most. Typer's adapters import pydantic.
IMPORTED = (
    "holdfast.service.serve", "holdfast.service.bootstrap.applications", "holdfast.service.bootstrap.services",
    "holdfast.service.telemetry.reporting", "holdfast.service.web.rsgi", "granian.server", "asyncio", "typer._adapters",
    "aiohttp", "asyncpg", "holdfast.service.delivery.mail_addresses", "holdfast.service.store.sqlite.store",
)  # fmt: skip
_WATCH_S = 5.0


class Process:
    """A forked command, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int, told: socket.socket) -> None:
        self.pid, self._told = pid, told
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self._told.setblocking(False)
            try:
                self._read()
            except BlockingIOError:
                return None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self._read()
            except TimeoutError:
                raise subprocess.TimeoutExpired("holdfast", timeout or 0) from None
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self) -> None:
        status = self._told.recv(16)
        assert status, "the process that starts commands has ended"
        self.returncode = int(status)
        self._told.close()


def start(
    arguments: list[str], environment: Mapping[str, str], files: tuple[int, int, int], *, new_session: bool = False
) -> Process:
    """Run `holdfast` with these arguments; `files` are its standard input, output and error."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = {
        "arguments": arguments,
        "environment": dict(environment),
        "folder": str(_folder()),
        "session": new_session,
    }
    with theirs, tempfile.TemporaryFile() as written:
        written.write(json.dumps(request).encode())
        written.seek(0)
        socket.send_fds(_parent(), [b"!"], [theirs.fileno(), written.fileno(), *files])
        return Process(int(ours.recv(16)), ours)


def run(
    arguments: list[str], environment: Mapping[str, str], stdin: bytes, timeout: float, *, new_session: bool = False
) -> tuple[int, bytes, bytes]:
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        files = given.fileno(), out.fileno(), err.fileno()
        process = start(arguments, environment, files, new_session=new_session)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return code, _content(out), _content(err)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _folder() -> str:
    return os.getcwd()  # noqa: PTH109 - sent as text


@cache
def _parent() -> socket.socket:
    """Start, once per test process, the process from which commands are forked. It ends with the test process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-c", f"from tests.support.forked import serve; serve({theirs.fileno()})"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
    atexit.register(_end, process, ours)
    return ours


def _end(process: subprocess.Popen[bytes], connection: socket.socket) -> None:
    connection.close()
    process.wait()


def serve(number: int) -> None:
    """Fork a process for each request until the test process has ended."""
    for name in IMPORTED:
        import_module(name)
    for name in COMMANDS:
        command_of(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for keepers
    requests = socket.socket(fileno=number)
    tests = os.getppid()
    while os.getppid() == tests:  # processes that outlive the tests may hold the other end of the socket
        if not select.select([requests], [], [], _WATCH_S)[0]:
            continue
        message, files, _, _ = socket.recv_fds(requests, 1, 5)
        if not message:
            return
        if os.fork() == 0:
            requests.close()
            _keep(*files)
        for file in files:
            os.close(file)


def _keep(told: int, written: int, *files: int) -> None:
    """Fork the command, and tell its process ID and then its exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection = socket.socket(fileno=told)
    with os.fdopen(written, "rb") as text:
        request: dict[str, Any] = json.load(text)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _become(request, files)
    for file in files:
        os.close(file)
    connection.send(str(pid).encode())
    _, status = os.waitpid(pid, 0)
    connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: dict[str, Any], files: tuple[int, ...]) -> None:
    """Become the command: its files, environment, folder and arguments, as if it had been started by itself."""
    if request["session"]:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for wanted, file in enumerate(files):
        os.dup2(file, wanted)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = _standard_streams()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[:0] = filter(None, request["environment"].get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = ["holdfast", *request["arguments"]]
    os._exit(_status_of_main())


def _standard_streams() -> tuple[IO[str], IO[str], IO[str]]:
    reading = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    writing = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    errors = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), write_through=True)
    return reading, writing, errors


def _status_of_main() -> int:
    from holdfast.cli import main

    try:
        main()
        code: object = 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        sys.stderr.write(code + "\n")
    atexit._run_exitfuncs()
    sys.stdout.flush()
    return code if isinstance(code, int) else 1 if code else 0
