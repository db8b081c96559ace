"""The scenario `snapshots`: pinning and fetching vaults, 64 at a time, compared with servers of the same files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tests.support.vault_tokens import AUDIENCE

from bench import cores, shots
from bench.alternate import WARM_UP_S, Gun, alternate, times_faster, times_faster_undisturbed
from bench.fetching import (
    LIBRARIES,
    blocks_as_files,
    blocks_of_service,
    cars_as_files,
    cars_of_service,
    fetch_loop,
    write_cars,
)
from bench.file_servers import CEILINGS, FILE_READ, granian, nginx
from bench.goals import MEMORY_GROWTH, RATE, READING_OF_NGINX
from bench.load import Load
from bench.places import say
from bench.report import number, shown
from bench.shots import Shot
from bench.subjects import DATABASE, GRANIAN, prepared, started
from bench.uploads import keep_vaults

if TYPE_CHECKING:
    from pathlib import Path

    from bench.alternate import Sample
    from bench.options import Options
    from bench.processes import Server
    from bench.report import Report
    from bench.uploads import Kept

AT_A_TIME = 64
BLOCK, CAR = "holdfast, block", "holdfast, CAR"
NGINX, NGINX_CAR = "nginx, block", "nginx, CAR"
BLOCKS = "snapshots"  # a folder in the data folder
_HALF = 50  # percent of the vaults; below that, caches are still filling
_HEAD = b" HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nX-Forwarded-For: " + shots.ADDRESS + b"\r\n\r\n"


def run(options: Options, report: Report) -> None:
    """Write every vault, then read them at random from the service and the other servers in turn."""
    subject = replace(GRANIAN, environment=partial(_environment, GRANIAN.environment, options.workers))
    on = cores.of_servers(options.workers)
    with prepared(subject, options.folder, 1) as own, started(subject, own, on=on) as server:
        say(f"{options.vaults:,} vaults, {AT_A_TIME} at a time, {options.workers} worker processes")
        kept = keep_vaults(server, options.vaults, AT_A_TIME)
        _tell_writing(report, kept, own)
        with ExitStack() as stack:
            others = _others(stack, own, options.workers, on)
            _tell_reading(report, _read(options, server, others, kept))
            if NGINX in others:
                write_cars(server, kept, own)
            _tell_fetching(report, _fetch(options, server, others, kept))
        _judge_memory(report, kept, server)
    report.goals()


def _others(stack: ExitStack, own: Path, workers: int, on: frozenset[int]) -> dict[str, Server]:
    """Start the file servers that serve the service's blocks; return them by their names in the table."""
    folder = own / BLOCKS
    others = {name: stack.enter_context(granian(own, folder, name, workers, on)) for name in CEILINGS}
    peer = stack.enter_context(nginx(own, folder, workers, on))
    return others if peer is None else {**others, NGINX: peer}


def _environment(given: object, workers: int, port: int, folder: Path) -> dict[str, str]:
    environment: dict[str, str] = given(port, folder)  # type: ignore[operator]  # the subject's own function
    more = {"HOLDFAST_SNAPSHOTS_FREE_BYTES": "0", "HOLDFAST_REGISTRAR_DID": AUDIENCE, "HOLDFAST_WORKERS": str(workers)}
    return {**environment, **more}


def _read(options: Options, server: Server, others: dict[str, Server], kept: Kept) -> dict[str, list[Sample]]:
    asked = {
        BLOCK: (server, _shot("block", b"/ipfs/" + shots.NAME + b"?format=raw", kept.blocks)),
        CAR: (server, _shot("car", b"/ipfs/" + shots.NAME + b"?format=car", kept.roots)),
        **{name: (at, _shot("file", b"/" + shots.NAME, kept.objects)) for name, at in others.items()},
    }
    load = Load(AT_A_TIME, options.seconds)
    turns = {}
    for name, (at, shot) in asked.items():
        gun = Gun(at)
        gun.turn([shot], Load(AT_A_TIME, min(WARM_UP_S, options.seconds)))
        turns[name] = partial(gun.turn, [shot], load)
    return alternate(turns, options.alternations)


def _fetch(options: Options, server: Server, others: dict[str, Server], kept: Kept) -> dict[str, list[Sample]]:
    sources = {BLOCK: blocks_of_service(server, kept), CAR: cars_of_service(server, kept)}
    for name in (NGINX, FILE_READ):
        if name in others:
            sources[name] = blocks_as_files(others[name], kept)
    if NGINX in others:
        sources[NGINX_CAR] = cars_as_files(others[NGINX], kept)
    with fetch_loop() as loop:
        turns = {
            f"{name}, {library}": partial(source.turn, loop, library, AT_A_TIME, seconds=options.seconds)
            for library in LIBRARIES
            for name, source in sources.items()
        }
        for library in LIBRARIES:  # the servers are warm already
            turns[f"{BLOCK}, {library}"](seconds=min(WARM_UP_S, options.seconds))
        return alternate(turns, options.alternations)


def _shot(route: str, target: bytes, names: tuple[str, ...]) -> Shot:
    return Shot(route, b"GET " + target + _HEAD, "", names=names)


def _tell_writing(report: Report, kept: Kept, own: Path) -> None:
    on_disk = sum(file.stat().st_size for file in (own / BLOCKS).iterdir())
    database = sum(file.stat().st_size for file in own.glob(f"{DATABASE}*"))
    count, head = len(kept.roots), ("vaults", "bytes a vault", "a second", "p50 ms", "p99 ms", "client's share of it")
    figures = (kept.per_second, kept.p50_ms, kept.p99_ms, kept.client_share)
    report.table("Pinned", head, [[f"{count:,}", f"{kept.sealed_bytes:,}", *map(number, figures)]])
    rows = [["blocks", number(on_disk / 1e6), number(on_disk / count)]]
    rows.append(["database", number(database / 1e6), number(database / count)])
    report.table("Disk", ("what", "MB", "bytes a vault"), rows)


def _tell_reading(report: Report, samples: dict[str, list[Sample]]) -> None:
    report.samples(f"Fetched at random, {AT_A_TIME} connections, by a client that discards the bytes", samples)
    for ours in (BLOCK, CAR) if NGINX in samples else ():
        _judge(report, samples, ours, NGINX, "through a client that discards the bytes")


def _tell_fetching(report: Report, samples: dict[str, list[Sample]]) -> None:
    report.samples(f"Fetched and verified, {AT_A_TIME} at a time, by a Python client", samples)
    for library in LIBRARIES if f"{NGINX}, {LIBRARIES[0]}" in samples else ():
        for ours, theirs in ((BLOCK, NGINX), (CAR, NGINX_CAR)):
            sides = f"{ours}, {library}", f"{theirs}, {library}"
            _judge(report, samples, *sides, "through a Python client that verifies them")


def _judge(report: Report, samples: dict[str, list[Sample]], ours: str, theirs: str, how: str) -> None:
    sides = (samples[ours], samples[theirs], RATE)
    measured = times_faster_undisturbed(*sides)
    what = f"reading {how}, {ours} against {theirs}, answers a second"
    met = measured >= READING_OF_NGINX
    report.result(what, f">= {READING_OF_NGINX:.2f}", measured, shown(times_faster(*sides)), met=met)


def _judge_memory(report: Report, kept: Kept, server: Server) -> None:
    after = server.memory_mb()
    rows = [[f"{share} % written", number(mb)] for share, mb in kept.memory_mb.items()]
    report.table("Memory of the service, MB (PSS)", ("when", "MB"), [*rows, ["all fetched", number(after)]])
    half = min(share for share in kept.memory_mb if share >= _HALF)
    grown = max(after, *(mb for share, mb in kept.memory_mb.items() if share >= half)) / kept.memory_mb[half]
    what = "memory, the most later over that when half was written"
    report.result(what, f"<= {MEMORY_GROWTH}", grown, "", met=grown <= MEMORY_GROWTH)
