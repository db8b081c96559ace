"""The scenario `pages`: what a person waits for in a real Chromium, with the built client and 1 s blocks."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from bench.alternate import spread
from bench.goals import ENCLAVE_WARM_MS, PAGE_USABLE_MS, PAYMENT_S
from bench.places import say
from bench.report import number, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.async_api import BrowserContext

    from bench.alternate import Spread
    from bench.options import Options
    from bench.report import Report
    from bench.visits import Load

PATHS = ("/", "/vault", "/pay/confirm")  # the last has nothing to press without a request from a shop
KINDS = ("cold", "warm")


@dataclass(slots=True)
class Figures:
    """The measurements by name: for each round, the value and a lower bound that was measured in the same round."""

    loads: dict[str, list[Load]] = field(default_factory=dict)
    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def note(self, name: str, took: float, ceiling: float) -> None:
        """Record one round, in milliseconds."""
        self.times.setdefault(name, []).append((took, ceiling))


def run(options: Options, report: Report) -> None:
    """Visit the pages, start the enclave, register and pay, `--alternations` times, if browser and chain can run."""
    if missing := _missing():
        say(f"pages: {missing}")
        return
    figures = asyncio.run(_measured(options.folder, options.alternations))
    _sizes(report, figures)
    _times(report, figures)


def _missing() -> str:
    if importlib.util.find_spec("playwright") is None:
        return "the Python package playwright is missing"
    from bench.chromium import chromium
    from holdfast.world import tools
    from holdfast.world.errors import NodeMissing

    try:
        tools.find_node()
    except NodeMissing as why:
        return str(why)
    return "" if chromium() else "no Chromium on this machine"


async def _measured(folder: Path, rounds: int) -> Figures:
    from bench import paying
    from bench.chromium import profile
    from bench.installed import installed

    figures = Figures()
    async with installed(folder) as service:
        with paying.shop() as shop:
            if rounds > 1:
                async with profile(folder) as context:  # a service's first payment takes longer, so it is not counted
                    await paying.round_of(context, service, shop, 1, lambda *_: None)
            for turn in range(rounds):
                say(f"round {turn + 1} of {rounds}")
                async with profile(folder) as context:
                    await _visited(context, service.url, figures)
                    await paying.round_of(context, service, shop, 2 if rounds > 1 else 1, figures.note)
    return figures


async def _visited(context: BrowserContext, address: str, figures: Figures) -> None:
    from bench import visits
    from bench.meter import metered

    async with metered(address) as meter:
        for path, kind in product(PATHS, KINDS):
            load = await visits.loaded(context, meter, path, cold=kind == "cold")
            figures.loads.setdefault(f"{path}, {kind}", []).append(load)
    for path, kind in product(PATHS[:2], KINDS):
        figures.note(f"usable: {path}, {kind}", *await visits.usable(context, address, path, cold=kind == "cold"))
    for kind in KINDS:
        took = await visits.started(context, address, visits.BOOT, cold=kind == "cold")
        bare = await visits.started(context, address, visits.INSTANTIATE, cold=kind == "cold")
        figures.note(f"enclave ready, {kind}", took, bare)


def _sizes(report: Report, figures: Figures) -> None:
    rows = []
    for name, loads in figures.loads.items():
        least = min(loads, key=lambda load: load.sent)
        rows.append([name, str(least.answers), f"{least.sent:,}", f"{least.uncompressed:,}"])
    head = ("visit", "answers", "bytes that the service sent", "bytes of the bodies, uncompressed")
    report.table("Pages: what a visit loads, the enclave included", head, rows)


def _times(report: Report, figures: Figures) -> None:
    rows = []
    for name, pairs in figures.times.items():
        ours, ceilings = (spread(values) for values in zip(*pairs, strict=True))
        aim = next((aim for start, aim in AIMS.items() if name.startswith(start)), None)
        judged = ["", ""] if aim is None else [f"<= {aim:g}", report.verdict(ours.median <= aim)]
        rows.append([name, shown(ours), *judged, *_compared(name, pairs, ceilings)])
    head = ("ms", "median (best to worst)", "aim", "reached", "ceiling", "ceiling, ms", "times the ceiling")
    report.table("Pages: times", head, rows)


def _compared(name: str, pairs: Sequence[tuple[float, float]], ceilings: Spread) -> list[str]:
    ratios = [ours / ceiling for ours, ceiling in pairs if ceiling]
    if not ratios:
        return ["", "", ""]
    of = next(ceiling for start, ceiling in CEILINGS.items() if name.startswith(start))
    return [of, shown(ceilings), number(spread(ratios).median)]


AIMS = {
    "usable": PAGE_USABLE_MS,
    "enclave ready, warm": ENCLAVE_WARM_MS,
    "payment, show() to result": PAYMENT_S * 1000,
}
CEILINGS = {
    "usable": "a bare page, and the same files fetched at once",
    "enclave ready": "WebAssembly.instantiateStreaming in the page",
    "registration": "the operation: sent until its block",
    "payment": "the operation: sent until its block",
}
