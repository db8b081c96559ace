"""Nodes are drained and restarted one after another behind a load balancer, under load: no request fails."""

from __future__ import annotations

import asyncio
import json
import time

from tests.support.judged_fault import judge
from tests.support.recorded_load import RecordedLoad
from tests.support.site import Site
from tests.support.tcp_proxy import proxied

DRAINED_S = 1.0  # new connections are accepted within this time even on a slow machine

_SILENCES = (
    "no connection to the database was free in time",
    "no connection to the database: TimeoutError",
    "no answer from the database",
)


async def test_a_rolling_restart_fails_no_request(site: Site) -> None:
    nodes = site.nodes.running
    with proxied(*(node.port for node in nodes)) as balancer:
        address = f"http://127.0.0.1:{balancer.port}"
        async with RecordedLoad(site.nodes, seed=time.monotonic_ns(), balancer=address) as load:
            load.start()
            for node in list(nodes)[:2]:
                await asyncio.sleep(0.5)
                # A connection that the kernel has opened and the node has not yet accepted is reset when the node stops.
                balancer.resting.add(node.port)
                await asyncio.sleep(DRAINED_S)
                assert await asyncio.to_thread(node.stop) == 0
                await asyncio.to_thread(site.nodes.start_again, node)
                balancer.resting.discard(node.port)
            await load.finish()
    judge(load)
    assert {answer.status for answer in load.answers} <= {200, 409, 429, 503}, load.counts()
    assert [why for why in _reasons(site) if not why.startswith(_SILENCES)] == [], load.counts()


def _reasons(site: Site) -> list[str]:
    """Return the nodes' reasons for their 503s. On a busy machine the database may be silent for more than a second."""
    lines = [line for node in site.nodes.running for line in node.log.read_text().splitlines()]
    return [json.loads(line)["why"] for line in lines if '"store unavailable"' in line]
