"""The scenario `service`: compares Holdfast with its HTTP server's highest rate, other stacks and the disk."""

from __future__ import annotations

import urllib.request
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from bench import disk, mix, shots
from bench.alternate import WARM_UP_S, Gun, alternate, of, spread
from bench.load import Load
from bench.places import say
from bench.report import number, shown
from bench.subjects import DATABASE, FASTIFY_PEER, Answer, ceiling, prepared, started

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.alternate import Sample
    from bench.options import Options
    from bench.report import Report
    from bench.shots import Shot
    from bench.subjects import Subject

DISK = "disk, 4 KiB write and flush"
READ_CONNECTIONS = 64
MIXED_PER_SECOND = 200
MIXED_CONNECTIONS = 16
ADDED_BY_SERVERS = frozenset({"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"})


def run(options: Options, report: Report) -> None:
    """Measure the mix of requests first, then each kind alone, mixed traffic at a steady rate, and memory."""
    with ExitStack() as stack:
        guns, sizes = {}, {}
        for subject in options.subjects:
            say(f"starting {subject.name}")
            own = stack.enter_context(prepared(subject, options.folder, options.rows))
            sizes[subject.name] = _bytes_each(subject, own, options.rows)
            guns[subject.name] = Gun(stack.enter_context(started(subject, own)))
        mix.run(options, report, guns)
        for shot in (shots.contracts(), shots.check(options.rows), shots.lookup(options.rows)):
            _read(options, report, guns, shot)
        for connections in options.connections:
            _register(options, report, guns, connections)
        _steady(options, report, guns)
        if FASTIFY_PEER.name in sizes:
            mix.disk(report, sizes[options.services[0].name], sizes[FASTIFY_PEER.name])
        rows = [[name, number(gun.server.memory_mb())] for name, gun in guns.items()]
        report.table("Memory after the load, MB (PSS)", ("server", "MB"), rows)
        report.goals()


def _bytes_each(subject: Subject, own: Path, rows: int) -> float:
    """Return the database's size in bytes per identifier, minus the size of an empty database."""
    assert subject.database is not None
    almost_empty = own / "almost-empty.db"
    subject.database(almost_empty, 1)
    size = (own / DATABASE).stat().st_size - almost_empty.stat().st_size
    return size / max(rows - 1, 1)


def _read(options: Options, report: Report, guns: Mapping[str, Gun], shot: Shot) -> None:
    """Measure one GET route, and fixed-response servers that send the same response."""
    say(f"{shot.route}: {READ_CONNECTIONS} connections, {options.alternations} alternations")
    answer = _answer(guns[options.services[0].name], shot)
    with ExitStack() as stack:
        all_guns = dict(guns)
        for service in options.services:
            subject = ceiling(service.name.partition("/")[2], answer)
            own = stack.enter_context(prepared(subject, options.folder, 0))
            all_guns[subject.name] = Gun(stack.enter_context(started(subject, own)))
        samples = _measured(options, all_guns, [shot], Load(READ_CONNECTIONS, options.seconds))
    report.samples(f"{shot.route}, {READ_CONNECTIONS} connections", samples)
    # The mix has already compared each kind with the peers, so only the fixed-response servers are measured here.
    peers = {subject.name for subject in options.subjects} - {service.name for service in options.services}
    report.judge(shot.route, {name: turns for name, turns in samples.items() if name not in peers})


def _register(options: Options, report: Report, guns: Mapping[str, Gun], connections: int) -> None:
    """Measure durable registrations, and in the same rounds the disk's rate of durable writes."""
    say(f"register: {connections} connections, {options.alternations} alternations")
    load = Load(connections, options.seconds)
    samples = _measured(options, guns, [shots.register()], load)
    flushes = samples[DISK]
    report.samples(f"register, durable, {connections} connections", samples)
    rows = [
        [name, shown(spread([a.per_second / b.per_second for a, b in zip(turns, flushes, strict=True)]))]
        for name, turns in samples.items()
        if name != DISK
    ]
    report.table(f"Registrations for each flush of the disk, {connections} connections", ("server", "times"), rows)


def _steady(options: Options, report: Report, guns: Mapping[str, Gun]) -> None:
    """Measure mixed requests at a steady rate. Latency is counted from the time at which a request was due."""
    say(f"mixed, {MIXED_PER_SECOND} a second")
    load = Load(MIXED_CONNECTIONS, max(options.seconds, 0.1), MIXED_PER_SECOND)
    samples = _measured(options, guns, shots.mixed(options.rows), load)
    title = f"mixed (check 4, lookup 3, contracts 1, register 2), {MIXED_PER_SECOND} a second, open loop"
    report.table(
        title,
        ("server", "p50 ms", "p99 ms", "CPU us a request"),
        [[name, *(shown(of(turns, f)) for f in ("p50_ms", "p99_ms", "cpu_us"))] for name, turns in samples.items()
         if name != DISK],
    )  # fmt: skip


def _measured(options: Options, guns: Mapping[str, Gun], what: Sequence[Shot], load: Load) -> dict[str, list[Sample]]:
    warm_up = Load(load.connections, min(WARM_UP_S, options.seconds), load.rate)
    for gun in guns.values():
        gun.turn(what, warm_up)
    turns = {name: partial(gun.turn, what, load) for name, gun in guns.items()}
    if any(shot.route == "register" for shot in what):
        turns[DISK] = partial(disk.turn, options.folder, options.seconds / 2)
    return alternate(turns, options.alternations)


def _answer(gun: Gun, shot: Shot) -> Answer:
    """Return the service's response to this request for row 0, without the headers that the HTTP server adds."""
    target = shot.request.split(b" ", 2)[1]
    plain = bytes(ord("0") if byte >= 0xE0 else byte for byte in target).decode()
    with urllib.request.urlopen(f"http://127.0.0.1:{gun.server.port}{plain}", timeout=10) as given:
        headers = [(name.lower(), value) for name, value in given.getheaders()]
        return Answer(tuple(pair for pair in headers if pair[0] not in ADDED_BY_SERVERS), given.read().decode())
