"""Runs the enclave in a Node process (bench/enclave_node.mjs), one operation at a time."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.enclave import bundled
from holdfast.world.node import search_path

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).with_name("enclave_node.mjs")


class Node:
    """A running Node process, started by `running`."""

    def __init__(self, program: str, process: subprocess.Popen[str]) -> None:
        self._program, self._process = program, process
        if self._answer() != "ready":
            raise RuntimeError("Node did not start the enclave")

    def time(self, operation: str, floor: float) -> float:
        """Return the CPU seconds per call of `operation`, measured over at least `floor` seconds of calls."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"operation": operation, "floor": floor}) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def start(self) -> float:
        """Return the shortest startup time of five new processes, in seconds from reading the module to a response."""
        command = [self._program, str(SCRIPT), str(bundled()), "--start"]
        times = [subprocess.run(command, capture_output=True, check=True, timeout=60).stdout for _ in range(5)]
        return min(map(float, times)) / 1000

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError("Node ended; its message stands above")
        return line


@contextmanager
def running(credential: bytes) -> Iterator[Node | None]:
    """Start the Node process and yield it, or None if Node is not installed; always stop the process afterwards."""
    program = shutil.which("node", path=search_path())
    if program is None:
        yield None
        return
    command = [program, str(SCRIPT), str(bundled()), base64.b64encode(credential).decode()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Node(program, process)
        finally:
            process.kill()
