"""The scenario `load`: mixed traffic at rising rates, on several nodes with one PostgreSQL database, on one machine."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from bench import filled, shots
from bench.load import Load, fire
from bench.places import say
from bench.processes import tree_cpu_s
from bench.report import number
from bench.stores import node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.postgres_server import PostgresServer

    from bench.options import Options
    from bench.processes import Server
    from bench.report import Report

CONNECTIONS = 96
EVERYWHERE: frozenset[int] = frozenset()  # no reserved cores: nodes, database and load share the machine


@dataclass(frozen=True, slots=True)
class Step:
    """The measurements for one request rate on a number of nodes, with CPU usage in cores."""

    nodes: int
    asked: int
    per_second: float
    p50_ms: float
    p99_ms: float
    nodes_cores: float
    database_cores: float


class Site:
    """Nodes that share a database; new registrations are numbered consecutively across all steps."""

    def __init__(self, options: Options, postgresql: PostgresServer, servers: Sequence[Server]) -> None:
        self._options = options
        self._postgresql = postgresql
        self._servers = servers
        self._next = 0

    def step(self, nodes: int, rate: int) -> Step:
        """Send `rate` requests per second to the first `nodes` nodes; a rate of 0 means as many as they can handle."""
        nodes_before, database_before = self._nodes_s(), tree_cpu_s(self._postgresql.pid)
        ports = [server.port for server in self._servers[:nodes]]
        traffic = shots.mostly_reads(self._options.rows)
        seen = fire(ports, traffic, Load(CONNECTIONS, self._options.seconds, rate), self._next)
        self._next = seen.next
        return Step(
            nodes, rate, seen.per_second, seen.p50_us / 1e3, seen.p99_us / 1e3,
            (self._nodes_s() - nodes_before) / seen.seconds,
            (tree_cpu_s(self._postgresql.pid) - database_before) / seen.seconds,
        )  # fmt: skip

    def _nodes_s(self) -> float:
        return sum(server.cpu_s() for server in self._servers)


def run(options: Options, report: Report) -> None:
    """Measure every request rate with every number of nodes, in turn."""
    with ExitStack() as stack:
        folder = stack.enter_context(filled.folder(options))
        postgresql = stack.enter_context(filled.server(folder, on=EVERYWHERE))
        url = filled.database(postgresql, options.rows)
        names = [f"node{n}" for n in range(1, max(options.nodes) + 1)]
        servers = [stack.enter_context(node(options.folder, url, name, on=EVERYWHERE)) for name in names]
        site = Site(options, postgresql, servers)
        steps = _measured(options, site)
    _tell(options, report, steps)


def _measured(options: Options, site: Site) -> list[Step]:
    steps = []
    for nodes in options.nodes:
        site.step(nodes, 0)  # opens connections and prepares statements
    for done in range(options.alternations):
        say(f"round {done + 1} of {options.alternations}: {options.nodes} nodes at {options.rates} a second")
        for rate in (*options.rates, 0):
            steps += [site.step(nodes, rate) for nodes in options.nodes]
    return steps


def _tell(options: Options, report: Report, steps: Sequence[Step]) -> None:
    rows = []
    for nodes in options.nodes:
        for rate in (*options.rates, 0):
            same = [step for step in steps if (step.nodes, step.asked) == (nodes, rate)]
            middle = partial(_median, same)
            cores, database = middle("nodes_cores"), middle("database_cores")
            rows.append([
                str(nodes), f"{rate:,}" if rate else "all that is answered",
                *(number(middle(field)) for field in ("per_second", "p50_ms", "p99_ms")),
                number(cores), number(database), f"{database / (cores + database):.0%}",
            ])  # fmt: skip
    head = ("nodes", "asked a second", "answered", "p50 ms", "p99 ms", "nodes' cores", "database's", "its share of CPU")
    report.table(f"Mixed traffic, 90 % reads, {options.rows:,} identifiers, {CONNECTIONS} connections", head, rows)
    report.raw("steps", [asdict(step) for step in steps])


def _median(steps: Sequence[Step], field: str) -> float:
    values: list[float] = [getattr(step, field) for step in steps]
    return median(values)
