"""Failing over to a synchronous standby loses nothing, and a missing standby is reported within seconds."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.support.judged_fault import load_during, until_refused
from tests.support.nodes import Nodes, nodes_on
from tests.support.postgres_server import USER, PostgresServer, running
from tests.support.soak import SOAK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ABSENT_S = 30.0 if SOAK else 8.0
DETECTED_AFTER_S = 2.0  # how long a fail-over manager waits to be sure
MOST_CONNECTIONS = 14  # of two nodes, each with two for reads, two for writes, and two whose commits are waiting
STANDBY = "standby_one"


@dataclass
class Pair:
    """A primary, its synchronous standby, and nodes that know the addresses of both servers."""

    primary: PostgresServer
    standby: PostgresServer
    nodes: Nodes

    def connections(self) -> int:
        """Return how many connections from nodes to the primary are open."""
        rows = self.primary.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'")
        return int(rows[0][0])


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with running() as primary:
        standby = PostgresServer()
        try:
            name = primary.new_database().rpartition("/")[2]
            standby.follow(primary, STANDBY).start()
            primary.set(synchronous_standby_names=f"FIRST 1 ({STANDBY})")
            hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
            url = f"postgresql://{USER}@{hosts}/{name}?target_session_attrs=read-write"
            with nodes_on(tmp_path, url, 2) as nodes:
                yield Pair(primary, standby, nodes)
        finally:
            standby.remove()


async def test_a_standby_that_is_gone_is_answered_and_a_fail_over_loses_nothing(pair: Pair) -> None:
    async with load_during(pair.nodes) as load:
        pair.standby.kill()
        began = time.monotonic()
        await asyncio.gather(asyncio.sleep(ABSENT_S), until_refused(load))
        late = [answer for answer in load.answers if answer.at > began + ABSENT_S / 2]
        assert any(answer.status == 200 for answer in late), "reads are still answered"
        assert pair.connections() <= MOST_CONNECTIONS, "commits that wait do not use up the server's connections"
        await asyncio.to_thread(pair.standby.start)
    async with load_during(pair.nodes) as load:
        await asyncio.to_thread(pair.primary.kill)
        await asyncio.gather(asyncio.sleep(DETECTED_AFTER_S), until_refused(load))
        await asyncio.to_thread(pair.standby.promote)
