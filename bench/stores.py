"""The scenario `stores`: PostgreSQL compared with the embedded store, on the same disk, in turn."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from bench import cores, filled, shots
from bench.alternate import WARM_UP_S, Gun, alternate, of
from bench.goals import STEADY_LOOKUP_P99_MS
from bench.load import Load
from bench.places import say
from bench.report import shown
from bench.subjects import service_on, started

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.support.postgres_server import PostgresServer

    from bench.alternate import Sample
    from bench.options import Options
    from bench.processes import Server
    from bench.report import Report
    from bench.shots import Shot

EMBEDDED, POSTGRESQL = "embedded", "postgresql"
CONNECTIONS = 64
STEADY_PER_SECOND, STEADY_CONNECTIONS = 200, 16
STEADY_TURNS = 5  # a turn at the steady rate is this many times as long, or its p99 would be the slowest response
DURABILITY = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers")


def run(options: Options, report: Report) -> None:
    """Measure registrations and reads at full speed, then look-ups at a steady rate."""
    with ExitStack() as stack:
        folder = stack.enter_context(filled.folder(options))
        postgresql = stack.enter_context(filled.server(folder))
        urls = {
            EMBEDDED: filled.embedded(folder, options.rows),
            POSTGRESQL: filled.database(postgresql, options.rows),
        }
        databases = {EMBEDDED: None, POSTGRESQL: postgresql.pid}
        guns = {
            name: Gun(stack.enter_context(node(options.folder, url, name)), databases[name])
            for name, url in urls.items()
        }
        _tell_settings(report, postgresql)
        for shot in (shots.register(), shots.check(options.rows), shots.lookup(options.rows)):
            if shot.route in options.routes:
                samples = _measured(options, guns, shot, Load(CONNECTIONS, options.seconds))
                report.samples(f"{shot.route}, {CONNECTIONS} connections", samples)
                report.judge(shot.route, samples)
        if "steady" in options.routes:
            _steady(options, report, guns)
    report.goals()


@contextmanager
def node(folder: Path, url: str, name: str, *, on: frozenset[int] = cores.SERVER) -> Iterator[Server]:
    """Run one node on this database."""
    own = folder / name
    own.mkdir()
    with started(service_on(url, name), own, on=on) as server:
        yield server


def _measured(options: Options, guns: Mapping[str, Gun], shot: Shot, load: Load) -> dict[str, list[Sample]]:
    say(f"{shot.route}: {load.connections} connections, {options.alternations} alternations")
    for gun in guns.values():
        gun.turn([shot], Load(load.connections, min(WARM_UP_S, load.seconds), load.rate))
    return alternate({name: partial(gun.turn, [shot], load) for name, gun in guns.items()}, options.alternations)


def _steady(options: Options, report: Report, guns: Mapping[str, Gun]) -> None:
    """Measure look-ups at a steady rate. Latency is counted from the time at which a request was due."""
    load = Load(STEADY_CONNECTIONS, STEADY_TURNS * options.seconds, STEADY_PER_SECOND)
    samples = _measured(options, guns, shots.lookup(options.rows), load)
    report.samples(f"lookup, {STEADY_PER_SECOND} a second, open loop", samples)
    for name, turns in samples.items():
        p99 = of(turns, "p99_ms")
        what = f"lookup, {name}, p99 ms at {STEADY_PER_SECOND} a second, median of the turns"
        met = p99.median < STEADY_LOOKUP_P99_MS
        report.result(what, f"< {STEADY_LOOKUP_P99_MS:g}", p99.median, shown(p99), met=met)


def _tell_settings(report: Report, postgresql: PostgresServer) -> None:
    rows = [[name, postgresql.execute(f"SHOW {name}")[0][0]] for name in DURABILITY]
    report.table("PostgreSQL's settings", ("setting", "value"), rows)
