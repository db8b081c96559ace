"""Prints the figures as Markdown tables on standard output, and writes them as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bench.alternate import of, times_faster, times_faster_undisturbed
from bench.goals import GOALS, JUDGED_BY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.alternate import Sample, Spread


_COLUMNS = {"per_second": "answers a second", "cpu_us": "CPU us a request", "p50_ms": "p50 ms", "p99_ms": "p99 ms"}
_IF_MEASURED = {"database_us": "database's CPU us", "client_share": "client's share of a core"}


class Report:
    """Collects the measurements."""

    def __init__(self) -> None:
        self._tables: list[dict[str, Any]] = []
        self._judged: list[list[str]] = []
        self.missed = 0

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table and keep it for the JSON."""
        self._tables.append({"title": title, "head": list(head), "rows": [list(row) for row in rows]})
        print(f"\n### {title}\n")
        for row in (head, ["---"] * len(head), *rows):
            print("| " + " | ".join(row) + " |", flush=True)

    def samples(self, title: str, samples: Mapping[str, Sequence[Sample]]) -> None:
        """Print a table with a row per server, and add the raw samples to the JSON."""
        every = [turn for turns in samples.values() for turn in turns]
        more = {name: title for name, title in _IF_MEASURED.items() if any(getattr(turn, name) for turn in every)}
        columns = {**_COLUMNS, **more}
        rows = [[name, *(shown(of(turns, field)) for field in columns)] for name, turns in samples.items()]
        self.table(title, ("server", *columns.values()), rows)
        self._tables[-1]["turns"] = {name: [asdict(turn) for turn in turns] for name, turns in samples.items()}

    def raw(self, name: str, values: Sequence[object]) -> None:
        """Add raw figures to the last table's entry in the JSON."""
        self._tables[-1][name] = list(values)

    def judge(self, route: str, samples: Mapping[str, Sequence[Sample]]) -> None:
        """Record a result for each of this route's goals for which both subjects were measured."""
        for goal in GOALS:
            if goal.route == route and {goal.subject, goal.against} <= samples.keys():
                ours, theirs = samples[goal.subject], samples[goal.against]
                measured = times_faster_undisturbed(ours, theirs, goal.judged_by)
                what = f"{goal.route}, {goal.subject} against {goal.against}, {JUDGED_BY[goal.judged_by]}"
                rounds = shown(times_faster(ours, theirs, goal.judged_by))
                self.result(what, f">= {goal.times:g}", measured, rounds, met=measured >= goal.times)

    def result(self, what: str, wanted: str, measured: float, rounds: str, *, met: bool) -> None:
        """Record one row of the table of goals."""
        self._judged.append([what, wanted, number(measured), rounds, self.verdict(met)])

    def goals(self) -> None:
        """Print the table of goals if any goal was measured."""
        if self._judged:
            self.table("Goals", ("what", "goal", "measured", "round by round", "reached"), self._judged)

    def verdict(self, met: bool) -> str:  # noqa: FBT001 - the one thing it is told
        """Return "yes" if a goal was met, otherwise "no"; count each missed goal."""
        self.missed += not met
        return "yes" if met else "no"

    def write(self, file: Path) -> None:
        """Write all tables and raw samples, with a description of the machine, as JSON."""
        file.write_text(json.dumps({"machine": machine(), "tables": self._tables}, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    return {
        "cpus": os.cpu_count(),
        "load_average": os.getloadavg(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def shown(value: Spread) -> str:
    """Return the median followed by the minimum and maximum in brackets, or an empty string if nothing was measured."""
    if value.low == value.high == 0:
        return ""
    return f"{number(value.median)} ({number(value.low)} to {number(value.high)})"


def number(value: float) -> str:
    """Return a number with three significant figures and no exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
