"""Builds and runs the load client, a C program that sends requests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bench import cores
from bench.places import HERE, MADE, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.shots import Shot

SOURCE = HERE / "load.c"


class LoadError(RuntimeError):
    """Raised if the load could not be generated or a server responded incorrectly."""


@dataclass(frozen=True, slots=True)
class Load:
    """How to send requests: over how many connections, for how long, and at what rate; rate 0 means a closed loop."""

    connections: int
    seconds: float
    rate: float = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the load client measured."""

    answers: int
    seconds: float
    next: int
    p50_us: float
    p90_us: float
    p99_us: float
    max_us: float

    @property
    def per_second(self) -> float:
        """Return responses per second."""
        return self.answers / self.seconds


@cache
def built() -> Path:
    """Return the compiled client, built by the system's compiler or by Zig's from the development dependencies."""
    MADE.mkdir(parents=True, exist_ok=True)
    program = MADE / f"load-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        compiler = [shutil.which("cc") or ""] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
        say("compiling the load client")
        subprocess.run([*compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program


def fire(port: int | Sequence[int], shots: Sequence[Shot], load: Load, first: int = 0) -> Outcome:
    """Send load to ports on 127.0.0.1, distributing the connections evenly among them.

    Numbers count up from `first`. Raises LoadError on any wrong response.
    """
    ports = ",".join(map(str, [port] if isinstance(port, int) else port))
    with tempfile.TemporaryDirectory() as folder:
        words = [w for i, shot in enumerate(shots) for w in _words(shot, Path(folder) / str(i))]
        named = _named(shots[0], Path(folder) / "names")
        how = [ports, load.connections, load.seconds, load.rate, first]
        with cores.children_on(cores.LOAD):
            done = subprocess.run(
                [str(built()), *map(str, how), *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
                env={**os.environ, **named},
            )
    if done.returncode:
        raise LoadError(f"{shots[0].route}: {done.stderr.strip()} {done.stdout.strip()}")
    return _outcome(json.loads(done.stdout))


def _named(shot: Shot, file: Path) -> dict[str, str]:
    if not shot.names:
        return {}
    file.write_text("\n".join(shot.names) + "\n")
    return {"LOAD_NAMES": str(file)}


def _words(shot: Shot, file: Path) -> list[str]:
    file.write_bytes(shot.request)
    return [str(shot.weight), str(shot.rows), str(file), shot.expected]


def _outcome(said: dict[str, float]) -> Outcome:
    del said["errors"]
    return Outcome(**said)  # type: ignore[arg-type] # the client prints integers where integers belong
