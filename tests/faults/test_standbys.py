"""Failing over to a synchronous standby loses nothing, and a missing standby is reported within seconds."""

import asyncio
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import pytest
from tests.support.judged_fault import load_during, until_refused
from tests.support.nodes import Nodes, nodes_on
from tests.support.postgres_server import USER, PostgresServer, running
from tests.support.routed_network import routed_network
from tests.support.serving import becomes_true
from tests.support.soak import SOAK

ABSENT_S = 30.0 if SOAK else 8.0
DETECTED_AFTER_S = 2.0  # how long a fail-over manager waits to be sure
# Half a second where nothing else runs; without the limits on silent connections it would be minutes, on any machine.
WRITES_AGAIN_AFTER_S = 15.0
MOST_CONNECTIONS = 14  # of two nodes, each with two for reads, two for writes, and two whose commits are waiting
STANDBY = "standby_one"


@dataclass
class Pair:
    """A primary, its synchronous standby, and nodes that know the addresses of both servers."""

    primary: PostgresServer
    standby: PostgresServer
    nodes: Nodes

    def connections(self):
        """Return how many connections from nodes to the primary are open."""
        rows = self.primary.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'")
        return int(rows[0][0])


@contextmanager
def paired(folder, *, primary_first=True, network=None):
    """Yield two servers and two nodes, whose URL names the servers in this order.

    With a network, the nodes are in it, and its cut separates them from the primary only.
    """
    at = (network.database, network.client) if network else ("127.0.0.1", "127.0.0.1")
    listening = {"listen_addresses": "*"} if network else {}
    with running(**listening) as primary:
        if network:
            network.admit(primary)
        standby = PostgresServer(None, **listening)
        try:
            name = primary.new_database().rpartition("/")[2]
            standby.follow(primary, STANDBY).start()
            primary.set(synchronous_standby_names=f"FIRST 1 ({STANDBY})")
            hosts = [f"{host}:{server.port}" for host, server in zip(at, (primary, standby), strict=True)]
            order = ",".join(hosts if primary_first else reversed(hosts))
            url = f"postgresql://{USER}@{order}/{name}?target_session_attrs=read-write"
            with network.nodes(folder, url) if network else nodes_on(folder, url, 2) as nodes:
                yield Pair(primary, standby, nodes)
        finally:
            standby.remove()


@pytest.fixture
def pair(tmp_path):
    with paired(tmp_path) as made:
        yield made


@pytest.mark.soak  # a long fault; the gate lets nodes leave an old primary
async def test_while_the_standby_is_gone_reads_are_answered(pair):
    async with load_during(pair.nodes) as load:
        pair.standby.kill()
        began = time.monotonic()
        await asyncio.gather(asyncio.sleep(ABSENT_S), until_refused(load))
        late = [answer for answer in load.answers if answer.at > began + ABSENT_S / 2]
        assert any(answer.status == 200 for answer in late)
        assert pair.connections() <= MOST_CONNECTIONS, "commits that wait do not use up the server's connections"
        await asyncio.to_thread(pair.standby.start)


def test_nodes_leave_an_old_primary_that_was_not_fenced(pair):
    """Without its synchronous standby the old primary commits nothing, but goes on calling itself primary.

    The connections for reads are open before the promotion.
    """
    for node in pair.nodes.running:
        with node.client() as client:
            assert client.get("/api/sessions/check?handle=moved0").json()["available"] is True
    pair.standby.promote()
    for number, node in enumerate(pair.nodes.running):
        assert becomes_true(partial(_stores, node, f"moved{number}"))
    for node in pair.nodes.running:
        with node.client() as client:
            for number in range(len(pair.nodes.running)):
                found = client.get(f"/api/sessions/check?handle=moved{number}").json()
                assert found["available"] is False


def _stores(node, handle):
    with node.client() as client:
        return node.session(client, handle, "192.0.2.1").status_code == 200


@pytest.mark.soak
@pytest.mark.parametrize("primary_first", [True, False])
@pytest.mark.parametrize("lost", ["SIGKILL", "SIGSTOP", "network"])
async def test_a_fail_over_loses_nothing_and_nodes_soon_write_again(tmp_path, lost, primary_first):
    """With SIGSTOP the old primary's port stays silent, as when a machine hangs; a new node starts meanwhile, too."""
    with ExitStack() as stack:
        network = stack.enter_context(routed_network()) if lost == "network" else None
        pair = stack.enter_context(paired(tmp_path, primary_first=primary_first, network=network))
        lose = network.cut if network else {"SIGKILL": pair.primary.kill, "SIGSTOP": pair.primary.freeze}[lost]
        async with load_during(pair.nodes) as load:
            await asyncio.to_thread(lose)
            await asyncio.gather(asyncio.sleep(DETECTED_AFTER_S), until_refused(load))
            promoting = asyncio.create_task(asyncio.to_thread(pair.standby.promote))
            waited = await asyncio.gather(*(asyncio.to_thread(_until_written, pair, node) for node in (0, 1)))
            await promoting
            sys.stdout.write(f"{lost=} {primary_first=}: writes again after {waited} s\n")
            if network is None:
                await asyncio.to_thread(pair.nodes.start)
    assert max(waited) < WRITES_AGAIN_AFTER_S


def _until_written(pair, node):
    """Return how many seconds after the promotion the node has stored a session."""
    server, number = pair.nodes.running[node], 0
    with server.client() as client:
        while True:
            number += 1
            written = server.session(client, f"after{node}n{number}", f"192.0.2.{number % 250}").status_code == 200
            if written:
                return time.time() - _promoted_at(pair.standby)


def _promoted_at(server):
    """Return when the server has accepted its first writes, which is when it wrote its timeline's history."""
    return max(file.stat().st_mtime for file in (server.data / "pg_wal").glob("*.history"))
