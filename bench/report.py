"""Tables on standard output, in Markdown, and the same figures as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bench.alternate import of, times_faster
from bench.goals import CPU, RATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.alternate import Sample, Spread
    from bench.goals import Goal


class Report:
    """Collects the measurements."""

    def __init__(self) -> None:
        self._tables: list[dict[str, Any]] = []
        self.missed = 0

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table and keep it for the JSON."""
        self._tables.append({"title": title, "head": list(head), "rows": [list(row) for row in rows]})
        print(f"\n### {title}\n")
        for row in (head, ["---"] * len(head), *rows):
            print("| " + " | ".join(row) + " |", flush=True)

    def samples(self, title: str, samples: Mapping[str, Sequence[Sample]]) -> None:
        """A table with a row for each server, and the raw turns in the JSON."""
        head = ("server", "answers a second", "CPU us a request", "p50 ms", "p99 ms")
        rows = [
            [name, *(shown(of(turns, field)) for field in ("per_second", "cpu_us", "p50_ms", "p99_ms"))]
            for name, turns in samples.items()
        ]
        self.table(title, head, rows)
        self._tables[-1]["turns"] = {name: [asdict(turn) for turn in turns] for name, turns in samples.items()}

    def goals(self, title: str, goals: Sequence[Goal], samples: Mapping[str, Sequence[Sample]]) -> None:
        """A table with a row for each goal whose two sides were measured."""
        measured = [goal for goal in goals if {goal.subject, goal.against} <= samples.keys()]
        if measured:
            head = ("what", "against", "by CPU a request", "by answers a second", "goal", "")
            self.table(title, head, [self._goal(goal, samples) for goal in measured])

    def _goal(self, goal: Goal, samples: Mapping[str, Sequence[Sample]]) -> list[str]:
        ours, theirs = samples[goal.subject], samples[goal.against]
        by = {field: times_faster(ours, theirs, field) for field in (CPU, RATE)}
        return [
            f"{goal.route}, {goal.subject}",
            goal.against,
            *(shown(by[field]) for field in (CPU, RATE)),
            f">= {goal.times:g} by {'CPU' if goal.judged_by == CPU else 'rate'}",
            self.verdict(by[goal.judged_by].median >= goal.times),
        ]

    def verdict(self, met: bool) -> str:  # noqa: FBT001 - its only argument
        """Met or missed; misses are counted."""
        self.missed += not met
        return "met" if met else "missed"

    def write(self, file: Path) -> None:
        """All tables and turns, with what they were measured on."""
        file.write_text(json.dumps({"machine": machine(), "tables": self._tables}, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """Return the facts about the machine."""
    return {
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def shown(value: Spread) -> str:
    """Return the median, with minimum and maximum in brackets; "" for what was not measured."""
    if value.low == value.high == 0:
        return ""
    return f"{number(value.median)} ({number(value.low)} to {number(value.high)})"


def number(value: float) -> str:
    """Return the number with three significant digits, without an exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
