"""Interleaved measuring: A B C, B C A, ...; ratios are computed per round, so that disturbances affect both sides."""

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
    """One turn of one server. CPU times are per response; `database_us` is a database server's.

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
    """The median and the extremes of several turns."""

    median: float
    low: float
    high: float


class Gun:
    """Sends load to one server; the numbers of new registrations continue from turn to turn."""

    def __init__(self, server: Server, database: int | None = None) -> None:
        """Take a server and, if it uses a database server, that server's process ID."""
        self.server = server
        self._database = database
        self._next = 0

    def turn(self, shots: Sequence[Shot], load: Load) -> Sample:
        """Run one turn. The CPU time is that of the server's whole process tree, per response of this turn."""
        before, database_before = self.server.cpu_s(), self._database_s()
        seen = fire(self.server.port, shots, load, self._next)
        cpu_s, database_s = self.server.cpu_s() - before, self._database_s() - database_before
        self._next = seen.next
        each = 1e6 / seen.answers
        return Sample(seen.per_second, cpu_s * each, seen.p50_us / 1e3, seen.p99_us / 1e3, database_s * each)

    def _database_s(self) -> float:
        return tree_cpu_s(self._database) if self._database is not None else 0.0


def alternate(turns: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """Run `rounds` turns of each; each round starts one position later in the list."""
    samples: dict[str, list[Sample]] = {name: [] for name in turns}
    names = list(turns)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples[name].append(turns[name]())
    return samples


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the extremes."""
    return Spread(median(values), min(values), max(values))


def of(samples: Sequence[Sample], field: str) -> Spread:
    """Return the median and the extremes of one field."""
    return spread([getattr(sample, field) for sample in samples])


def times_faster(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> Spread:
    """Return how many times better we are in each round: more responses per second, or less of anything else.

    NaN if no round was long enough to measure it.
    """
    pairs = [(getattr(a, field), getattr(b, field)) for a, b in zip(ours, theirs, strict=True)]
    if field == "per_second":
        return spread([a / b for a, b in pairs if b] or [nan])
    return spread([b / a for a, b in pairs if a] or [nan])


def times_faster_undisturbed(ours: Sequence[Sample], theirs: Sequence[Sample], field: str) -> float:
    """Compare the better quartiles of both sides, which other programs disturbed least; return how many times better
    ours is.

    On a shared machine these quartiles vary by 4 %, the ratio of a single round by 15 %.
    """
    mine, other = ([getattr(sample, field) for sample in samples] for samples in (ours, theirs))
    if field == "per_second":
        return _quartile(mine, 2) / (_quartile(other, 2) or nan)
    return _quartile(other, 0) / (_quartile(mine, 0) or nan)


def _quartile(values: Sequence[float], which: int) -> float:
    return quantiles(values, method="inclusive")[which] if len(values) > 1 else values[0]
