"""Starts the installation in deploy/compose.yaml on this machine, without containers, and tests it: `make topology`.

PostgreSQL, two nodes, nginx and Prometheus run with the configuration that the Compose file mounts. The script
registers through the proxy, kills a node, registers again, restarts the node, and queries Prometheus. Grafana is not
started, because it is not available from PyPI, npm or Debian.

tools/topology.py             test it; exit 1 with the reason if something is wrong
tools/topology.py --stay      then keep running until Ctrl-C
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from typing import TYPE_CHECKING

import httpx2
from tests.support.serving import DID, PATIENCE_S, becomes_true
from tests.support.topology import Topology, dashboard_queries, topology

import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_REQUESTS = 12
_OK, _TOO_MANY = 200, 429
_SHOWN_LINES = 20
_LIMIT = 3  # registrations per address


def main() -> int:
    """Start the installation, test it, and return 0 if everything works."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stay", action="store_true", help="go on running until Ctrl-C")
    stay = parser.parse_args().stay
    if stopped := programs.fetch(programs.SITE):
        return _say(f"stopped: {stopped}", 1)
    nginx, prometheus = programs.program("nginx"), programs.program("prometheus")
    assert nginx
    assert prometheus
    began = time.monotonic()
    with topology(nginx, prometheus) as site:
        _say(f"PostgreSQL, two nodes, nginx at {site.proxy}, Prometheus at {site.prometheus}")
        try:
            _try(site)
        except AssertionError as error:
            return _say(f"failed: {error}\nnginx's last lines:\n{_last_lines(site.proxy_log)}", 1)
        _say(f"everything held, after {time.monotonic() - began:.0f} s")
        if stay:
            _say("running until Ctrl-C")
            signal.sigwait([signal.SIGINT, signal.SIGTERM])
    return 0


def _try(site: Topology) -> None:
    first, second = site.nodes.running
    both = [site.address_of(first), site.address_of(second)]
    _expect_up(site, both, down=[])
    _register(site, "before", 2)
    # The counters of both nodes prove that the proxy sent requests to each of them.
    served = "sum by (instance) (holdfast_requests_total)"
    _expect(lambda: set(site.values(served)) == set(both), "Prometheus counts requests of both nodes")
    _register_too_often(site)
    _ask_what_people_see(site)
    first.kill_all()
    _register(site, "while a node is dead", 3)
    _expect_up(site, both[1:], down=both[:1])
    site.nodes.start_again(first)
    _expect_up(site, both, down=[])
    _register(site, "after it came back", 4)
    assert second.stop() == 0
    _register(site, "while the other node is stopped", 5)


def _register(site: Topology, when: str, network: int) -> None:
    """Open a session from each of many addresses, all of which must succeed, and look up each handle."""
    for n in range(_REQUESTS):
        # nginx passes the client's address to the nodes, and the loopback network has enough addresses for many
        # clients.
        with _client(site, f"127.0.{network}.{n + 1}") as client:
            answer = client.post("/api/sessions", json={"handle": f"name-{network}-{n}", "did": DID})
            assert answer.status_code == _OK, f"{when}: {answer.status_code} {answer.text}"
            check = client.get(f"/api/sessions/check?handle=name-{network}-{n}").json()
            assert check["available"] is False, f"{when}: the handle is free after its registration"
    _say(f"{_REQUESTS} registrations {when}: each answered 200 and found again")


def _ask_what_people_see(site: Topology) -> None:
    """Let Prometheus evaluate every alert rule and every query of the dashboard."""
    _expect(lambda: all(rule["health"] == "ok" for rule in _rules(site)), f"{len(_rules(site))} rules are evaluated")
    queries = dashboard_queries()

    def empty() -> list[str]:
        return [query for query in queries if not site.ask_prometheus("query", query=query)["result"]]

    # A rate has a value only after Prometheus has asked a node twice.
    enough = becomes_true(lambda: 3 * len(empty()) < 2 * len(queries))
    assert enough, f"queries of the dashboard without values: {empty()}"
    _say(f"{len(queries)} queries of the dashboard are answered, {len(queries) - len(empty())} of them with values")


def _rules(site: Topology) -> list[dict[str, str]]:
    return [rule for group in site.ask_prometheus("rules")["groups"] for rule in group["rules"]]


def _register_too_often(site: Topology) -> None:
    with _client(site, "127.0.9.1") as client:
        statuses = [
            client.post("/api/sessions", json={"handle": f"many-{n}", "did": DID}).status_code for n in range(6)
        ]
    assert statuses == [_OK] * _LIMIT + [_TOO_MANY] * (6 - _LIMIT), f"the limit by address: {statuses}"
    _say(f"{_LIMIT} registrations from one address, then 429, whichever node answers")


def _expect_up(site: Topology, up: Sequence[str], down: Sequence[str]) -> None:
    wanted = dict.fromkeys(up, 1.0) | dict.fromkeys(down, 0.0)
    _expect(lambda: site.values("up") == wanted, f"Prometheus sees {len(up)} up and {len(down)} down")


def _expect(holds: Callable[[], bool], what: str) -> None:
    assert becomes_true(holds), f"not within {PATIENCE_S:.0f} s: {what}"
    _say(what)


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text().splitlines()[-_SHOWN_LINES:])


def _client(site: Topology, address: str) -> httpx2.Client:
    return httpx2.Client(base_url=site.proxy, timeout=PATIENCE_S, transport=httpx2.HTTPTransport(local_address=address))


def _say(line: str, code: int = 0) -> int:
    print(f"topology: {line}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
