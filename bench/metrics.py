"""The scenario `metrics`: the cost of metrics per request, measured with and without HOLDFAST_ADMIN_PORT."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bench import shots
from bench.alternate import WARM_UP_S, Gun, alternate, times_faster, times_faster_undisturbed
from bench.goals import CPU, METRICS_CPU_TIMES
from bench.load import Load
from bench.places import say
from bench.report import shown
from bench.subjects import GRANIAN, prepared, started
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench.options import Options
    from bench.report import Report
    from bench.shots import Shot
    from bench.subjects import Subject

WITHOUT, WITH = "without metrics", "with metrics"
CONNECTIONS = 64


def run(options: Options, report: Report) -> None:
    """Measure each route and the mix of routes, on the two nodes in turn."""
    with ExitStack() as stack:
        guns = {subject.name: _gun(stack, options, subject) for subject in (_without(), _with())}
        for route, traffic in _traffic(options.rows).items():
            _measure(options, report, guns, route, traffic)
    report.goals()


def _without() -> Subject:
    return replace(GRANIAN, name=WITHOUT)


def _with() -> Subject:
    def environment(port: int, folder: Path) -> dict[str, str]:
        return {**GRANIAN.environment(port, folder), "HOLDFAST_ADMIN_PORT": str(free_port())}

    return replace(GRANIAN, name=WITH, environment=environment)


def _gun(stack: ExitStack, options: Options, subject: Subject) -> Gun:
    own = stack.enter_context(prepared(subject, options.folder, options.rows))
    return Gun(stack.enter_context(started(subject, own)))


def _traffic(rows: int) -> dict[str, list[Shot]]:
    alone = (shots.contracts(), shots.check(rows), shots.lookup(rows), shots.register())
    return {**{shot.route: [shot] for shot in alone}, "mixed": shots.mixed(rows)}


def _measure(options: Options, report: Report, guns: Mapping[str, Gun], route: str, traffic: list[Shot]) -> None:
    say(f"{route}: {CONNECTIONS} connections, {options.alternations} alternations")
    load = Load(CONNECTIONS, options.seconds)
    for gun in guns.values():
        gun.turn(traffic, Load(CONNECTIONS, min(WARM_UP_S, options.seconds)))
    samples = alternate({name: partial(gun.turn, traffic, load) for name, gun in guns.items()}, options.alternations)
    report.samples(f"{route}, {CONNECTIONS} connections", samples)
    times = times_faster_undisturbed(samples[WITHOUT], samples[WITH], CPU)
    rounds = shown(times_faster(samples[WITHOUT], samples[WITH], CPU))
    what = f"{route}, CPU a request with metrics over that without"
    report.result(what, f"<= {METRICS_CPU_TIMES:g}", times, rounds, met=times <= METRICS_CPU_TIMES)
