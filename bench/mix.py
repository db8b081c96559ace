"""The benchmark's main figure: a realistic mix of four kinds of requests, and each kind alone, on each server."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench import shots
from bench.alternate import WARM_UP_S, alternate, spread
from bench.goals import DISK_OF_PEER, MIX_OVER_PARTS, MIXED, SERVICE
from bench.load import Load
from bench.places import say
from bench.report import number, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.alternate import Gun, Sample
    from bench.options import Options
    from bench.report import Report
    from bench.shots import Shot

CONNECTIONS = 64


def run(options: Options, report: Report, guns: Mapping[str, Gun]) -> None:
    """Measure the mix and each of its kinds in turn, so that other programs disturb all of them alike."""
    say(f"mixed: {CONNECTIONS} connections, {options.alternations} alternations")
    mixed = shots.mixed(options.rows)
    load = Load(CONNECTIONS, options.seconds)
    turns = {}
    for name, gun in guns.items():
        gun.turn(mixed, Load(CONNECTIONS, min(WARM_UP_S, options.seconds)))
        turns[name] = partial(gun.turn, mixed, load)
        for shot in mixed:
            turns[_part(name, shot)] = partial(gun.turn, [shot], load)
    measured = alternate(turns, options.alternations)
    samples = {name: measured[name] for name in guns}
    report.samples(f"mixed (check 4, lookup 3, contracts 1, register 2), {CONNECTIONS} connections", samples)
    report.judge(MIXED, samples)
    for shot in mixed:
        report.judge(shot.route, {name: measured[_part(name, shot)] for name in guns})
    _tell_parts(report, measured, list(guns), mixed)


def _part(name: str, shot: Shot) -> str:
    return f"{name}: {shot.route}"


def _tell_parts(
    report: Report, measured: Mapping[str, Sequence[Sample]], names: Sequence[str], mixed: Sequence[Shot]
) -> None:
    rows = []
    for name in names:
        parts = [(shot.weight, measured[_part(name, shot)]) for shot in mixed]
        over = [turn.cpu_us / _weighted(parts, at) for at, turn in enumerate(measured[name])]
        lowest = min(turn.cpu_us for turn in measured[name]) / _weighted_lowest(parts)
        rows.append([name, shown(spread(over)), number(lowest)])
        if name == SERVICE:
            what, met = f"mixed, {name}, CPU over the weighted sum of its parts", lowest <= MIX_OVER_PARTS
            report.result(what, f"<= {MIX_OVER_PARTS}", lowest, shown(spread(over)), met=met)
    report.table("CPU of the mix over the weighted sum of its parts", ("server", "by turns", "from the lowest"), rows)


def _weighted(parts: Sequence[tuple[int, Sequence[Sample]]], at: int) -> float:
    return sum(weight * turns[at].cpu_us for weight, turns in parts) / sum(weight for weight, _ in parts)


def _weighted_lowest(parts: Sequence[tuple[int, Sequence[Sample]]]) -> float:
    lowest = sum(weight * min(turn.cpu_us for turn in turns) for weight, turns in parts)
    return lowest / sum(weight for weight, _ in parts)


def disk(report: Report, ours: float, peer: float) -> None:
    """Report the database's bytes per identifier, compared with the Fastify peer's."""
    times = ours / peer
    report.table("Disk, bytes an identifier", ("holdfast", "fastify", "times"), [[*map(number, (ours, peer, times))]])
    what = f"disk an identifier, {SERVICE} against fastify"
    report.result(what, f"<= {DISK_OF_PEER}", times, "", met=times <= DISK_OF_PEER)
