"""On Citus the tables are spread by their shards, and a node is ready, and `check` satisfied, if all servers answer."""

import asyncpg
import pytest
from tests.support.databases import CITUS_URL

from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql import reads
from holdfast.service.store.postgresql.citus import lost_servers
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.schema import TABLES, migrate
from holdfast.settings.postgresql import parse_address

needs_citus = pytest.mark.skipif(
    CITUS_URL is None, reason="HOLDFAST_TEST_CITUS_URL does not name a database of a Citus cluster"
)
WITHOUT_SHARD = {"totals", "leases", "bans", "admin_keys", "invitations"}


@pytest.fixture
async def connection(citus_url):
    opened = await asyncpg.connect(citus_url)
    yield opened
    await opened.close()


def test_a_server_that_no_other_reaches_is_lost():
    """As Citus answers while the worker b is down."""
    tries = [("a", True), ("b", False), ("c", True), ("a", None), ("b", None), ("c", None), ("a", True), ("b", False)]
    assert lost_servers(tries) == ["b"]
    assert lost_servers([("a", True), ("b", True)]) == []


@needs_citus
async def test_equal_shards_of_all_tables_are_on_one_server(connection, citus_url):
    await migrate(parse_address(citus_url))
    rows = await connection.fetch(
        "SELECT c.relname, p.colocationid FROM pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid"
    )
    assert {row["relname"] for row in rows} == set(TABLES) - WITHOUT_SHARD
    assert len({row["colocationid"] for row in rows}) == 1


@needs_citus
async def test_a_look_up_reads_the_shards_of_its_keys(connection):
    claim = [[shard_of("handle", "ann")], ["handle"], ["ann"]]
    plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {reads.CLAIM.on_citus}", *claim))
    assert "Task Count: 1\n" in plan, plan


@needs_citus
async def test_a_node_is_ready_and_the_check_satisfied(citus_url):
    database = PostgresqlDatabase(citus_url)
    store = database.open()
    await store.ping()
    await store.close()
    (found,) = [finding for finding in database.findings(1) if finding.subject == "citus"]
    assert (found.state, found.fix) == ("ok", "")
