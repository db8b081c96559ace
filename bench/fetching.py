"""Measures how fast a Python client fetches and verifies snapshots from each server (bench/fetch_loop.py)."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, get_args

from bench import cores
from bench.alternate import Sample
from bench.fetch_loop import Fetched, Library, Order
from bench.file_servers import CARS
from bench.load import LoadError
from bench.places import ROOT
from holdfast.content.cars import read_car

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.fetch_loop import Form
    from bench.processes import Server
    from bench.uploads import Kept

LIBRARIES: tuple[Library, ...] = get_args(Library)
MOST_CARS = 1000  # as files for nginx; 100 MB


class FetchLoop:
    """The running loop. One turn at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def carry_out(self, order: Order) -> Fetched:
        """Carry out an order. Raises LoadError if a server responded with anything that the loop could not verify."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise LoadError("the loop has no pipes")
        stdin.write(json.dumps(asdict(order)) + "\n")
        stdin.flush()
        said = json.loads(stdout.readline() or '{"error": "the loop ended"}')
        if "error" in said:
            raise LoadError(f"{order.url}, {order.form}: {said['error']}")
        return Fetched(**said)


@contextmanager
def fetch_loop() -> Iterator[FetchLoop]:
    """Start the loop on the load client's core, and stop it afterwards."""
    command = [sys.executable, "-m", "bench.fetch_loop"]
    with cores.children_on(cores.LOAD):
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:  # closes its standard input, at which it ends, and waits
        yield FetchLoop(process)


@dataclass(frozen=True, slots=True)
class Source:
    """A server, and what is fetched from it."""

    server: Server
    form: Form
    named: tuple[tuple[str, ...], ...]

    def turn(self, loop: FetchLoop, library: Library, at_a_time: int, *, seconds: float) -> Sample:
        """Run one turn. The CPU time is that of all the server's processes, divided by the number of responses."""
        before = self.server.cpu_s()
        url = f"http://127.0.0.1:{self.server.port}"
        seen = loop.carry_out(Order(url, library, self.form, self.named, at_a_time, seconds))
        each = 1e6 / seen.answers
        return Sample(
            per_second=seen.answers / seen.seconds,
            cpu_us=(self.server.cpu_s() - before) * each,
            p50_ms=seen.p50_us / 1e3,
            p99_ms=seen.p99_us / 1e3,
            client_share=seen.cpu_s / seen.seconds,
        )


def blocks_of_service(server: Server, kept: Kept) -> Source:
    """Return the service as a source of blocks."""
    return Source(server, "block", tuple((f"/ipfs/{cid}", cid) for cid in kept.blocks))


def blocks_as_files(server: Server, kept: Kept) -> Source:
    """Return a file server, which serves the service's folder, as a source of the same blocks."""
    named = zip(kept.objects, kept.blocks, strict=True)
    return Source(server, "block", tuple((f"/{name}", cid) for name, cid in named))


def cars_of_service(server: Server, kept: Kept) -> Source:
    """Return the service as a source of the CAR files that `write_cars` writes."""
    return Source(server, "car", _cars(kept, lambda root: f"/ipfs/{root}"))


def cars_as_files(server: Server, kept: Kept) -> Source:
    """Return nginx as a source of the CAR files that `write_cars` wrote."""
    return Source(server, "car", _cars(kept, lambda root: f"/{CARS}/{root}"))


def write_cars(server: Server, kept: Kept, own: Path) -> None:
    """Fetch CAR files from the service and write them to the folder that nginx serves."""
    folder = own / CARS
    folder.mkdir()
    folder.chmod(0o711)
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        for number, root in enumerate(kept.roots[:MOST_CARS]):
            address = f"10.{number >> 8 & 255}.{number & 255}.1"
            connection.request("GET", f"/ipfs/{root}?format=car", headers={"X-Forwarded-For": address})
            data = connection.getresponse().read()
            read_car(data)
            (folder / root).write_bytes(data)


def _cars(kept: Kept, path: Callable[[str], str]) -> tuple[tuple[str, ...], ...]:
    pairs = zip(kept.roots, kept.blocks, strict=True)
    return tuple((path(root), root, block) for root, block in pairs)[:MOST_CARS]
