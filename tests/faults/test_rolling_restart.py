"""Nodes are drained and restarted one after another behind a load balancer, under load: no request fails."""

import asyncio
import time

import pytest
from tests.support.judged_fault import judge
from tests.support.nodes import Refusals
from tests.support.recorded_load import RecordedLoad
from tests.support.tcp_proxy import proxied

DRAINED_S = 1.0  # new connections are accepted within this time even on a slow machine


@pytest.mark.soak
async def test_a_rolling_restart_fails_no_request(site):
    nodes = site.nodes.running
    refusals = Refusals(site.nodes)
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
    assert refusals.not_for_silence() == [], load.counts()
