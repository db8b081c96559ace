"""`python -m bench`: measures, prints tables, and says how many goals were missed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench import (
    disk,
    enclave_bench,
    gas,
    indexer_bench,
    lookup_rows,
    metrics,
    pages_bench,
    ramp,
    service,
    snapshots,
    startup,
    stores,
)
from bench.options import ROUTES, Options
from bench.places import MADE, say
from bench.report import Report, machine

SCENARIOS = {
    "fsync": disk.run,
    "startup": startup.run,
    "service": service.run,
    "lookup-rows": lookup_rows.run,
    "stores": stores.run,
    "metrics": metrics.run,
    "load": ramp.run,
    "enclave": enclave_bench.run,
    "indexer": indexer_bench.run,
    "snapshots": snapshots.run,
    "pages": pages_bench.run,
    "gas": gas.run,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the requested scenarios. The exit code is 0 even if a goal is missed."""
    words = _parser().parse_args(arguments)
    if sys.platform != "linux":
        say("the load client needs Linux (epoll)")
        return 1
    MADE.mkdir(parents=True, exist_ok=True)
    report = Report()
    say(f"{machine()}")
    with tempfile.TemporaryDirectory(dir=words.folder or MADE, prefix="run-") as folder:
        options = _options(words, Path(folder))
        for name in SCENARIOS if words.scenario == "all" else [words.scenario]:
            SCENARIOS[name](options, report)
    if words.json:
        report.write(words.json)
    say(f"done; goals missed: {report.missed}")
    return 0


def _options(words: argparse.Namespace, folder: Path) -> Options:
    return Options(
        folder=folder,
        seconds=words.seconds,
        alternations=words.alternations,
        rows=words.rows,
        vaults=words.vaults,
        workers=words.workers,
        identifiers=tuple(words.identifiers),
        connections=tuple(words.connections),
        server=words.server,
        without=frozenset(words.without),
        filled=words.filled,
        store=words.store,
        routes=tuple(words.routes),
        nodes=tuple(words.nodes),
        rates=tuple(words.rates),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("scenario", nargs="?", default="service", choices=[*SCENARIOS, "all"])
    parser.add_argument("--seconds", type=float, default=0.4, help="length of one turn")
    parser.add_argument("--alternations", type=int, default=7, help="turns of each server")
    parser.add_argument("--rows", type=int, default=10_000, help="registered identifiers; events of `indexer`")
    parser.add_argument("--vaults", type=int, default=1000, help="vaults of 100 KB for `snapshots`")
    parser.add_argument("--workers", type=int, default=1, help="worker processes of every server of `snapshots`")
    parser.add_argument(
        "--identifiers",
        type=int,
        nargs="+",
        default=[10_000, 1_000_000, 10_000_000],
        help="sizes for `lookup-rows`; ten million need 26 GB of disk, and half an hour to fill both stores",
    )
    parser.add_argument("--filled", type=Path, help="folder where `lookup-rows` keeps filled stores for the next run")
    parser.add_argument(
        "--store", choices=["embedded", "postgresql", "all"], default="all", help="for `lookup-rows`: one of them alone"
    )
    parser.add_argument(
        "--routes",
        nargs="+",
        choices=ROUTES,
        default=ROUTES,
        help="what `stores` measures; `steady` is look-ups at 200 a second",
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3], help="numbers of nodes for `load`")
    parser.add_argument(
        "--rates",
        type=int,
        nargs="+",
        default=[500, 1000, 2000, 4000, 8000, 16000],
        help="requests a second for `load`",
    )
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64], help="for registrations")
    parser.add_argument("--server", choices=["granian", "uvicorn", "all"], default="all")
    parser.add_argument("--without", nargs="*", choices=["fastify", "fastapi"], default=[], help="peers to leave out")
    parser.add_argument("--folder", type=Path, help="where databases lie meanwhile; their disk is what is measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every turn here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
