"""Interleaved measurements: A B C, B C A, ...; each ratio is computed per round, so disturbances affect both sides."""

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
    """One turn of one server. CPU times are per response; `database_us` is the CPU time of the database server.

    `client_share` is how much of a core the client used, if that was measured.
    """

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float
    database_us: float = 0.0
    client_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Spread:
    """The median, minimum and maximum of several measurements."""

    median: float
    low: float
    high: float


class Gun:
    """Sends requests to one server, numbering new registrations consecutively across all turns."""

    def __init__(self, server: Server, database: int | None = None) -> None:
        """Store the server and, if it uses a database server, the process ID of that database server."""
        self.server = server
        self._database = database
        self._next = 0

    def turn(self, shots: Sequence[Shot], load: Load) -> Sample:
        """Run one turn. The CPU time is that of all the server's processes, divided by the number of responses."""
        before, database_before = self.server.cpu_s(), self._database_s()
        seen = fire(self.server.port, shots, load, self._next)
        cpu_s, database_s = self.server.cpu_s() - before, self._database_s() - database_before
        self._next = seen.next
        each = 1e6 / seen.answers
        return Sample(seen.per_second, cpu_s * each, seen.p50_us / 1e3, seen.p99_us / 1e3, database_s * each)

    def _database_s(self) -> float:
        return tree_cpu_s(self._database) if self._database is not None else 0.0


def alternate(turns: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Run every subject once per round; each round starts one position later in the list of subjects."""
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    names = list(turns)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples[name].append(turns[name]())
    return samples


def spread(values: Sequence[float]) -> Spread:
    """Return the median, minimum and maximum of the values."""
    return Spread(median(values), min(values), max(values))


def of(samples: Sequence[Sample], field: str) -> Spread:
    """Return the median, minimum and maximum of one field of the samples."""
    return spread([getattr(sample, field) for sample in samples])


def times_faster(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> Spread:
    """Return by what factor `ours` beats `theirs` in the rounds; less is better, except for the field `per_second`.

    The result is NaN if no round was long enough to measure the field.
    """
    pairs = [(getattr(a, field), getattr(b, field)) for a, b in zip(ours, theirs, strict=True)]
    if field == "per_second":
        return spread([a / b for a, b in pairs if b] or [nan])
    return spread([b / a for a, b in pairs if a] or [nan])


def times_faster_undisturbed(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> float:
    """Return the factor by which the better quartile of `ours` (the upper one for rates) beats that of `theirs`.

    Other programs disturb the better quartiles least: on a shared machine these vary by 4 %, but the ratio of a single
    round varies by 15 %.
    """
    mine, other = ([getattr(sample, field) for sample in samples] for samples in (ours, theirs))
    if field == "per_second":
        return _quartile(mine, 2) / (_quartile(other, 2) or nan)
    return _quartile(other, 0) / (_quartile(mine, 0) or nan)


def _quartile(values: Sequence[float], which: int) -> float:
    return quantiles(values, method="inclusive")[which] if len(values) > 1 else values[0]
