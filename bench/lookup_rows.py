"""The scenario `lookup-rows`: the cost of look-ups and availability checks as an SQLite or PostgreSQL store grows."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from bench import filled, shots, store_reads
from bench.alternate import WARM_UP_S, Gun, alternate, times_faster, times_faster_undisturbed
from bench.goals import CPU, GROWN_P50_TIMES, LOOKUP_CPU_TIMES
from bench.load import Load
from bench.places import say
from bench.report import shown
from bench.stores import EMBEDDED, POSTGRESQL, node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.alternate import Sample
    from bench.options import Options
    from bench.report import Report
    from bench.shots import Shot

ALONE, TOGETHER = 1, 16  # connections: for the time of a single response, and for CPU time
P50 = "p50_ms"


def run(options: Options, report: Report) -> None:
    """Measure nodes with databases of several sizes, in SQLite and in PostgreSQL, in turn."""
    with ExitStack() as stack:
        folder = options.filled or stack.enter_context(filled.folder(options))
        guns = _guns(stack, options, folder)
        for route in ("lookup", "check"):
            for connections in (ALONE, TOGETHER):
                say(f"{route}: {connections} connections, {options.alternations} alternations")
                _read(options, report, guns, route, Load(connections, options.seconds))
        if EMBEDDED in _stores(options):
            store_reads.run(options, report, folder)
    report.goals()


def _guns(stack: ExitStack, options: Options, folder: Path) -> dict[tuple[str, int], Gun]:
    urls, database = {}, None
    if EMBEDDED in _stores(options):
        urls = {(EMBEDDED, rows): filled.embedded(folder, rows) for rows in options.identifiers}
    if POSTGRESQL in _stores(options):
        postgresql = stack.enter_context(filled.server(folder))
        urls |= {(POSTGRESQL, rows): filled.database(postgresql, rows) for rows in options.identifiers}
        database = postgresql.pid
    return {
        (store, rows): Gun(
            stack.enter_context(node(options.folder, url, f"{store}-{rows}")),
            database if store == POSTGRESQL else None,
        )
        for (store, rows), url in urls.items()
    }


def _stores(options: Options) -> tuple[str, ...]:
    return (EMBEDDED, POSTGRESQL) if options.store == "all" else (options.store,)


def _read(options: Options, report: Report, guns: Mapping[tuple[str, int], Gun], route: str, load: Load) -> None:
    turns = {}
    for (store, rows), gun in guns.items():
        traffic = [_shot(route, rows)]
        gun.turn(traffic, Load(TOGETHER, min(WARM_UP_S, options.seconds)))
        turns[f"{store}, {rows:,}"] = partial(gun.turn, traffic, load)
    samples = alternate(turns, options.alternations)
    report.samples(f"{route}, {load.connections} connections, by store and identifiers", samples)
    for store in _stores(options):
        smallest, *larger = (samples[f"{store}, {rows:,}"] for rows in options.identifiers)
        for rows, turned in zip(options.identifiers[1:], larger, strict=True):
            _judge(report, f"{route}, {store}, {rows:,} against {options.identifiers[0]:,}", load, smallest, turned)


def _judge(report: Report, what: str, load: Load, smallest: Sequence[Sample], larger: Sequence[Sample]) -> None:
    """For one connection, compare the median response time; for several, compare the node's CPU time."""
    field, most = (P50, GROWN_P50_TIMES) if load.connections == ALONE else (CPU, LOOKUP_CPU_TIMES)
    times = times_faster_undisturbed(smallest, larger, field)
    rounds = shown(times_faster(smallest, larger, field))
    name = "p50 of one connection" if field == P50 else f"CPU of the node, {load.connections} connections"
    report.result(f"{what}, {name}", f"<= {most:g}", times, rounds, met=times <= most)


def _shot(route: str, rows: int) -> Shot:
    return shots.lookup(rows) if route == "lookup" else shots.check(rows)
