"""Nodes are killed, or the database is killed, frozen, cut off or full; no acknowledged write is lost or duplicated."""

import asyncio
import contextlib
import time

import asyncpg
import pytest
from tests.support.judged_fault import load_during, until_refused
from tests.support.nodes import Refusals
from tests.support.soak import SOAK

# Under `make soak` the network is cut for 30 s instead of 5 s (docs/scaling.md).
CUT_S = 30.0 if SOAK else 5.0
FROZEN_S = 10.0


@pytest.mark.soak  # tests/service/web/test_repeats_after_kill.py kills a service, test_linearizability.py judges nodes in the gate
async def test_a_node_is_killed(site):
    refusals = Refusals(site.nodes)
    async with load_during(site.nodes, broken=True):
        node = site.nodes.running[1]
        await asyncio.to_thread(node.kill_all)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(site.nodes.start_again, node)
    assert refusals.not_for_silence() == [], "the other nodes serve on"


@pytest.mark.soak  # in the gate, tests/service/test_serve_postgresql.py has an outage of the database
async def test_the_database_is_killed(site):
    async with load_during(site.nodes) as load:
        await asyncio.to_thread(site.postgres.kill)
        await until_refused(load)
        await asyncio.to_thread(site.postgres.start)


@pytest.mark.soak
@pytest.mark.parametrize("cut", [False, True])
async def test_the_database_is_frozen_or_the_network_to_it_cut(site, cut):
    begin, end = (site.network.cut, site.network.restore) if cut else (site.postgres.freeze, site.postgres.thaw)
    async with load_during(site.nodes) as load:
        begin()
        await asyncio.gather(asyncio.sleep(CUT_S if cut else FROZEN_S), until_refused(load))
        end()


@pytest.mark.soak
async def test_all_connections_are_taken(site):
    async with load_during(site.nodes) as load, contextlib.AsyncExitStack() as taken:
        await _take_all(site, taken)
        await until_refused(load)


async def _take_all(site, taken):
    """Terminate the nodes' connections to the database server, and open as many connections as it allows."""
    first = await asyncpg.connect(site.postgres.url())
    taken.push_async_callback(first.close)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(asyncpg.TooManyConnectionsError):
            while True:
                taken.push_async_callback((await asyncpg.connect(site.postgres.url())).close)
        ended = await first.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'"
        )
        if not ended:
            return
    raise AssertionError("the nodes keep connections")
