"""The disk's rate of durable writes, which limits how many commits per second one writer can reach."""

from __future__ import annotations

import os
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.alternate import Sample, spread
from bench.report import shown

if TYPE_CHECKING:
    from pathlib import Path

    from bench.options import Options
    from bench.report import Report

PAGE = 4096
PREALLOCATED_PAGES = 1024


def turn(folder: Path, seconds: float, *, append: bool = False) -> Sample:
    """Repeatedly write a page and flush it, inside an existing file (like a reused log) or at the end of a file."""
    file = folder / "fsync"
    file.write_bytes(b"" if append else bytes(PAGE * PREALLOCATED_PAGES))
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.fsync(descriptor)
        times = _write(descriptor, seconds, append=append)
    finally:
        os.close(descriptor)
        file.unlink()
    took_ms = sorted((b - a) * 1e3 for a, b in pairwise(times))
    per_second = len(took_ms) / (times[-1] - times[0])
    return Sample(per_second, 0.0, took_ms[len(took_ms) // 2], took_ms[len(took_ms) * 99 // 100])


def _write(descriptor: int, seconds: float, *, append: bool) -> list[float]:
    page, number = os.urandom(PAGE), 0
    times = [time.perf_counter()]
    while times[-1] - times[0] < seconds or number < 2:
        place = number if append else number % PREALLOCATED_PAGES
        os.pwrite(descriptor, page, place * PAGE)
        os.fdatasync(descriptor)
        times.append(time.perf_counter())
        number += 1
    return times


def run(options: Options, report: Report) -> None:
    """Run the scenario `fsync`."""
    rows = []
    for what, append in (("4 KiB over a written file", False), ("4 KiB at the end", True)):
        turns = [turn(options.folder, options.seconds, append=append) for _ in range(options.alternations)]
        fields = ([getattr(t, field) for t in turns] for field in ("per_second", "p50_ms", "p99_ms"))
        rows.append([what, *(shown(spread(values)) for values in fields)])
    report.table("Disk: write and flush, one after the other", ("write", "a second", "p50 ms", "p99 ms"), rows)
