"""The kernel drops the packets between nodes and database, and each side must close its connections in time."""

import asyncio
import subprocess
import time

import pytest
from tests.support.judged_fault import load_during, unavailable
from tests.support.postgres_server import USER, running
from tests.support.routed_network import routed_network

# TCP keep-alive closes an idle connection after 11 s (node) or 19 s (server); TCP_USER_TIMEOUT after 5 s or 10 s.
CUT_S = 30.0


@pytest.mark.soak  # takes a minute
async def test_both_sides_end_connections_that_a_cut_made_silent(tmp_path):
    with routed_network() as network, running(listen_addresses=f"127.0.0.1,{network.database}") as postgres:
        network.admit(postgres)
        name = postgres.new_database().rpartition("/")[2]
        url = f"postgresql://{USER}@{network.database}:{postgres.port}/{name}"
        with network.nodes(tmp_path, url) as nodes:
            async with load_during(nodes) as load:
                assert _on_the_server(postgres) > 0
                network.cut()
                began = time.monotonic()
                await asyncio.sleep(CUT_S)
                assert await asyncio.to_thread(_ends, lambda: _on_the_nodes(network, postgres) == 0), "on the nodes"
                assert await asyncio.to_thread(_ends, lambda: _on_the_server(postgres) == 0), "on the server"
                late = [answer for answer in load.answers if answer.at > began + 3]
                assert {answer.status for answer in late} == {503}, load.counts()
                network.restore()
            assert unavailable(load) > 0


def _on_the_server(postgres):
    rows = postgres.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'")
    return int(rows[0][0])


def _on_the_nodes(network, postgres):
    """Count only established connections, because connections that are being opened get no response either."""
    found = subprocess.run(
        [*network.prefix, "ss", "-Htn", "state", "established", f"( dport = :{postgres.port} )"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return len(found.stdout.splitlines())


def _ends(holds):
    deadline = time.monotonic() + 5
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.2)
    return holds()
