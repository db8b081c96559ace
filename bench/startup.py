"""The scenario `startup`: the time from starting the command to the first 200 from /healthz."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from bench.alternate import spread
from bench.goals import COLD_START_S
from bench.places import say
from bench.report import shown
from bench.subjects import prepared, started

if TYPE_CHECKING:
    from pathlib import Path

    from bench.options import Options
    from bench.report import Report
    from bench.subjects import Subject

STARTS = 10


def run(options: Options, report: Report) -> None:
    """Start each subject ten times, in turn and on any core, and measure the elapsed time and the CPU time."""
    took: dict[str, list[tuple[float, float]]] = {subject.name: [] for subject in options.subjects}
    with ExitStack() as stack:
        folders = {s.name: stack.enter_context(prepared(s, options.folder, options.rows)) for s in options.subjects}
        say(f"{STARTS} starts of each")
        for _ in range(STARTS if options.alternations > 1 else 1):
            for subject in options.subjects:
                took[subject.name].append(_start(subject, folders[subject.name]))
    rows = []
    for name, starts in took.items():
        wall, cpu = (spread(values) for values in zip(*starts, strict=True))
        ours = name.startswith("holdfast")
        verdict = [f"<= {COLD_START_S}", report.verdict(wall.median <= COLD_START_S)] if ours else ["", ""]
        rows.append([name, shown(wall), shown(cpu), *verdict])
    report.table("Start to first answer", ("server", "seconds", "CPU seconds", "goal", ""), rows)


def _start(subject: Subject, own: Path) -> tuple[float, float]:
    with started(subject, own, on=frozenset()) as server:
        return server.started_in_s, server.cpu_s()
