"""The cost of reads from the embedded store as it grows, measured in this process without a server."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench import filled
from bench.alternate import Sample, alternate, times_faster_undisturbed
from bench.report import number
from bench.shots import SEEDED_CREDENTIAL, SEEDED_HANDLE
from holdfast.service.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.options import Options
    from bench.report import Report

    Read = Callable[[SqliteStore, int], Awaitable[object]]

READS, WARM_UP = 1500, 3000  # reads per turn, and reads before the first turn


def run(options: Options, report: Report, folder: Path) -> None:
    """Measure look-ups and checks of random keys, alternating between databases of several sizes."""
    turns = {}
    for rows in options.identifiers:
        file = Path(filled.embedded(folder, rows).removeprefix("sqlite:///"))
        for what, read in (("lookup", _lookup), ("check", _check)):
            turns[what, rows] = _turns(file, rows, read)
    names = {f"{what}, {rows:,}": turn for (what, rows), turn in turns.items()}
    samples = alternate(names, max(options.alternations, 7))
    smallest = options.identifiers[0]
    table = []
    for what, rows in turns:
        turned, first = samples[f"{what}, {rows:,}"], samples[f"{what}, {smallest:,}"]
        each = [
            1e3 * sorted(getattr(turn, field) for turn in turned)[len(turned) // 4] for field in ("p50_ms", "cpu_us")
        ]
        times = times_faster_undisturbed(first, turned, "p50_ms")
        table.append([what, f"{rows:,}", number(each[0]), number(each[1] / 1e3), number(times)])
    head = ("read", "identifiers", "p50 us", "CPU us", "p50 over the smallest's")
    report.table("The embedded store alone, lower quartile of the turns", head, table)


async def _lookup(store: SqliteStore, rows: int) -> object:
    return await store.find_credential(SEEDED_CREDENTIAL.format(random.randrange(rows)))


async def _check(store: SqliteStore, rows: int) -> object:
    await store.is_claimed("handle", SEEDED_HANDLE.format(random.randrange(2 * rows)))
    return True


def _turns(file: Path, rows: int, read: Read) -> Callable[[], Sample]:
    """Return a function that measures one turn of reads from a database file, over a connection that stays open."""
    loop = asyncio.new_event_loop()
    store = SqliteStore(file)
    loop.run_until_complete(_timed(store, rows, read, WARM_UP))
    return lambda: loop.run_until_complete(_timed(store, rows, read, READS))


async def _timed(store: SqliteStore, rows: int, read: Read, reads: int) -> Sample:
    times = []
    cpu, began = time.process_time(), time.perf_counter()
    for _ in range(reads):
        start = time.perf_counter()
        assert await read(store, rows)
        times.append(time.perf_counter() - start)
        await asyncio.sleep(0)  # each read in a separate turn of the event loop, as for a single request
    each = 1e6 * (time.process_time() - cpu) / reads
    return Sample(reads / (time.perf_counter() - began), each, 1e3 * median(times), 1e3 * max(times))
