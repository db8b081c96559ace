"""Starts the local world's programs behind guards, and ends all of them, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from holdfast.world import guard
from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

_LOOK_EVERY_S = 0.03
_END_WITHIN_S = guard.PATIENCE_S + 2
# The environment variables that a child process needs. Other variables may contain keys and addresses, and are not
# passed on.
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "SystemRoot")


@dataclass
class Child:
    """A running program. `process` is its guard."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    def last_words(self) -> str:
        """Return the last part of the program's output."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "(it wrote nothing)"


class Supervisor:
    """An asynchronous context manager.

    Once the context has exited, none of the started programs is running any more.

    Attributes:
        children: the programs in the order in which they were started.
    """

    def __init__(self, logs: Path, inherited: Sequence[int] = ()) -> None:
        self._logs = logs
        self._inherited = inherited
        self.children: list[Child] = []

    async def __aenter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The programs are ended in reverse order, so that the service does not lose its chain while it is still
        # running.
        for child in reversed(self.children):
            await end(child.process)

    async def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
        """Start `command` behind a guard. The command's output is written to `<logs>/<name>.log`."""
        log = self._logs / f"{name}.log"
        inherited = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *guarded(*command),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=self._inherited,
                env={**inherited, **(environment or {})},
            )
        child = Child(name, process, log)
        self.children.append(child)
        return child

    async def ready(self, child: Child, is_ready: Callable[[], Awaitable[bool]], within_s: float) -> None:
        """Wait until `is_ready` returns True. Raises WorldError if the program ends or the time is over."""
        deadline = asyncio.get_running_loop().time() + within_s
        while not await is_ready():
            if child.process.returncode is not None:
                raise WorldError(f"{child.name} stopped while starting: {child.last_words()}")
            if asyncio.get_running_loop().time() > deadline:
                raise WorldError(f"{child.name} was not ready in {within_s:.0f} s: {child.last_words()}")
            await asyncio.sleep(_LOOK_EVERY_S)

    async def first_to_end(self) -> Child:
        """Wait until a program ends by itself, and return that program."""
        waits = {asyncio.ensure_future(child.process.wait()): child for child in self.children}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return waits[done.pop()]
        finally:
            for wait in waits:
                wait.cancel()


def guarded(*command: str) -> tuple[str, ...]:
    """Return the command line that runs `command` behind a guard.

    The guard's standard input must be a pipe of this process.
    """
    return (sys.executable, "-I", "-S", guard.__file__, *command)


async def end(process: asyncio.subprocess.Process) -> None:
    """End a guard and, through it, its command. Both have ended afterwards."""
    if process.stdin is not None:
        process.stdin.close()  # the end of input, for which the guard waits
    try:
        await asyncio.wait_for(process.wait(), _END_WITHIN_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def free_port() -> int:
    """Return a free loopback TCP port.

    On Linux, no other process is assigned this port while this process is running.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
        if platform.system() == "Linux":
            # socket(7): a bound socket that does not listen does not prevent a server with SO_REUSEADDR from using the
            # port, but the kernel no longer assigns the port to others. The socket's descriptor stays open until this
            # process ends, and children do not inherit it.
            probe.detach()
        return port
