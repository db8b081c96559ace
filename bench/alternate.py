"""Interleaved measurements (A B C, B C A, ...). Ratios are taken within a round: other load affects both sides."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from statistics import median
from typing import TYPE_CHECKING

from bench.load import Load, fire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.processes import Server
    from bench.shots import Shot

WARM_UP_S = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement of one server."""

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The median, minimum and maximum of several measurements."""

    median: float
    low: float
    high: float


class Gun:
    """Sends load to one server. Numbers of new registrations continue from turn to turn."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._next = 0

    def turn(self, shots: Sequence[Shot], load: Load) -> Sample:
        """Measure once. The CPU time is that of the server's whole process tree, per answer."""
        before = self.server.cpu_s()
        seen = fire(self.server.port, shots, load, self._next)
        cpu_s = self.server.cpu_s() - before
        self._next = seen.next
        return Sample(seen.per_second, cpu_s / seen.answers * 1e6, seen.p50_us / 1e3, seen.p99_us / 1e3)


def alternate(turns: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Measure each subject `rounds` times; the order rotates by one in every round."""
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    names = list(turns)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples[name].append(turns[name]())
    return samples


def spread(values: Sequence[float]) -> Spread:
    """Return median, minimum and maximum."""
    return Spread(median(values), min(values), max(values))


def of(samples: Sequence[Sample], field: str) -> Spread:
    """Return median, minimum and maximum of one field."""
    return spread([getattr(sample, field) for sample in samples])


def times_faster(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> Spread:
    """Return how many times better this service is, per round: more answers a second, or less of anything else.

    NaN if no round was long enough to measure it: the system counts CPU time in steps of 10 ms.
    """
    pairs = [(getattr(a, field), getattr(b, field)) for a, b in zip(ours, theirs, strict=True)]
    if field == "per_second":
        return spread([a / b for a, b in pairs if b] or [nan])
    return spread([b / a for a, b in pairs if a] or [nan])
