"""Interleaved measuring: A B C, B C A, ...; ratios are taken within a round, so that neighbours disturb both sides."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from statistics import median, quantiles
from typing import TYPE_CHECKING

from bench.load import Load, fire
from bench.processes import tree_cpu_s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.processes import Server
    from bench.shots import Shot

WARM_UP_S = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn of one server. CPU time is for each answer; `database_us` is that of a database server."""

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float
    database_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of several turns, and their extremes."""

    median: float
    low: float
    high: float


class Gun:
    """Fires at one server; numbers of new registrations go on from turn to turn."""

    def __init__(self, server: Server, database: int | None = None) -> None:
        """A server, and the process of the database server that it asks, if any."""
        self.server = server
        self._database = database
        self._next = 0

    def turn(self, shots: Sequence[Shot], load: Load) -> Sample:
        """One turn. The CPU time is the server's whole process tree's, over the answers of this turn."""
        before, database_before = self.server.cpu_s(), self._database_s()
        seen = fire(self.server.port, shots, load, self._next)
        cpu_s, database_s = self.server.cpu_s() - before, self._database_s() - database_before
        self._next = seen.next
        each = 1e6 / seen.answers
        return Sample(seen.per_second, cpu_s * each, seen.p50_us / 1e3, seen.p99_us / 1e3, database_s * each)

    def _database_s(self) -> float:
        return tree_cpu_s(self._database) if self._database is not None else 0.0


def alternate(turns: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """`rounds` turns of each, the order moving on by one every round."""
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    names = list(turns)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples[name].append(turns[name]())
    return samples


def spread(values: Sequence[float]) -> Spread:
    """Median and extremes."""
    return Spread(median(values), min(values), max(values))


def of(samples: Sequence[Sample], field: str) -> Spread:
    """Median and extremes of one field."""
    return spread([getattr(sample, field) for sample in samples])


def times_faster(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> Spread:
    """How many times better we are, round by round: more answers a second, or less of anything else.

    NaN where no round was long enough to measure it.
    """
    pairs = [(getattr(a, field), getattr(b, field)) for a, b in zip(ours, theirs, strict=True)]
    if field == "per_second":
        return spread([a / b for a, b in pairs if b] or [nan])
    return spread([b / a for a, b in pairs if a] or [nan])


def times_faster_undisturbed(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> float:
    """How many times better we are in each side's better quarter of turns, which other programs disturbed least.

    On a shared machine these quartiles vary by 4 %, the ratio of a single round by 15 %.
    """
    mine, other = ([getattr(sample, field) for sample in samples] for samples in (ours, theirs))
    if field == "per_second":
        return _quartile(mine, 2) / (_quartile(other, 2) or nan)
    return _quartile(other, 0) / (_quartile(mine, 0) or nan)


def _quartile(values: Sequence[float], which: int) -> float:
    return quantiles(values, method="inclusive")[which] if len(values) > 1 else values[0]
