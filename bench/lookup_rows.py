"""The scenario `lookup-rows`: the cost of a look-up as the database grows."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bench import shots
from bench.alternate import WARM_UP_S, Gun, Sample, alternate, of, times_faster
from bench.goals import CPU, LOOKUP_CPU_TIMES
from bench.load import Load
from bench.places import say
from bench.report import number, shown
from bench.subjects import DATABASE, prepared, started

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench.options import Options
    from bench.report import Report

CONNECTIONS = 16
STORE_LOOKUPS = 20_000


def run(options: Options, report: Report) -> None:
    """Measure the same server on databases of several sizes, in turn, and the store alone without a server."""
    service = options.services[0]
    load = Load(CONNECTIONS, options.seconds)
    http, store, sizes = {}, {}, {}
    with ExitStack() as stack:
        for rows in options.rows_compared:
            subject = replace(service, name=f"{service.name} {rows:,} rows")
            own = stack.enter_context(prepared(subject, options.folder, rows))
            _warm(own / DATABASE)
            gun = Gun(stack.enter_context(started(subject, own)))
            name = f"{rows:,}"
            sizes[name] = (own / DATABASE).stat().st_size / 1e6
            http[name] = partial(gun.turn, [shots.lookup(rows)], load)
            store[name] = partial(_store_turn, own / DATABASE, rows, options.seconds)
            gun.turn([shots.lookup(rows)], Load(CONNECTIONS, min(WARM_UP_S, options.seconds)))
        say("look-ups through HTTP and in the store")
        through_http = alternate(http, options.alternations)
        in_store = alternate(store, options.alternations)
    _tell(report, service.name, sizes, through_http, in_store)


def _tell(
    report: Report,
    service: str,
    sizes: Mapping[str, float],
    through_http: Mapping[str, Sequence[Sample]],
    in_store: Mapping[str, Sequence[Sample]],
) -> None:
    first = next(iter(sizes))
    rows = []
    for name, size in sizes.items():
        grown = times_faster(in_store[first], in_store[name], CPU)
        http_grown = times_faster(through_http[first], through_http[name], CPU)
        rows.append([
            name, number(size), shown(of(through_http[name], CPU)), shown(http_grown), f"<= {LOOKUP_CPU_TIMES}",
            report.verdict(http_grown.median <= LOOKUP_CPU_TIMES), shown(of(in_store[name], CPU)), shown(grown),
        ])  # fmt: skip
    head = ("rows", "file MB", f"CPU us, {service}", "times the first", "goal", "", "CPU us, store", "times the first")
    report.table("Look-up of a random credential", head, rows)


def _warm(file: Path) -> None:
    """Read the file once, so that its pages are in memory."""
    with file.open("rb") as stream:
        while stream.read(1 << 24):
            pass


def _store_turn(file: Path, rows: int, seconds: float) -> Sample:
    """Look-ups through the service's own store, in this thread, without a server."""
    from holdfast.service.store.sqlite.store import SqliteStore

    async def turn() -> Sample:
        store = SqliteStore(file)
        try:
            return await _look_up(store, rows, STORE_LOOKUPS if seconds >= 0.2 else 500)
        finally:
            await store.close()

    return asyncio.run(turn())


async def _look_up(store: object, rows: int, count: int) -> Sample:
    credentials = [shots.SEEDED_CREDENTIAL.format(random.randrange(rows)) for _ in range(count)]
    for credential in credentials[: count // 10]:
        await store.find_credential(credential)  # type: ignore[attr-defined] # the store, imported on demand
    cpu, wall = time.thread_time(), time.perf_counter()
    for done, credential in enumerate(credentials):
        if not await store.find_credential(credential):  # type: ignore[attr-defined] # as above
            raise LookupError(credential)
        if done % CONNECTIONS == 0:
            await asyncio.sleep(0)  # about as many as in one turn of the event loop
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    return Sample(count / wall, cpu / count * 1e6, wall / count * 1e3, 0.0)
