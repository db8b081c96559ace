"""The schema can be split across servers: keys begin with the shard, and on Citus equal shards are on one server."""

import asyncpg
import pytest
from tests.support.serving import PATIENCE_S
from tests.support.vector_files import vectors

from holdfast.rules.shards import shard_of
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import reads
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.citus import lost_servers
from holdfast.service.store.postgresql.connection import open_connection
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.schema import TABLES, migrate
from holdfast.service.store.postgresql.servers import Servers

pytestmark = pytest.mark.usefixtures("patient_stores")
NOT_ABOUT_AN_IDENTIFIER = {"totals", "leases", "bans", "admin_keys", "invitations"}


def test_the_vectors():
    for case in vectors("service/shards")["cases"]:
        parts = [bytes.fromhex(part["hex"]) if isinstance(part, dict) else part for part in case["parts"]]
        assert shard_of(*parts) == case["shard"]


async def test_every_key_begins_with_its_shard(pg_store, postgres, postgres_url):
    name = postgres_url.rpartition("/")[2]
    keys = postgres.execute(
        "SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] WHERE n.nspname = 'holdfast'"
        " AND i.indisunique",
        name,
    )
    first = {table: (column, kind) for table, column, kind in keys if table in TABLES}
    assert first.keys() == set(TABLES)
    assert {table for table, found in first.items() if found != ("shard", "smallint")} == NOT_ABOUT_AN_IDENTIFIER
    assert not postgres.execute(
        "SELECT conname FROM pg_constraint JOIN pg_namespace n ON n.oid = connamespace"
        " WHERE contype = 'f' AND nspname = 'holdfast'", name
    ), "a foreign key would cross shards"  # fmt: skip
    assert not postgres.execute("SELECT 1 FROM pg_sequences WHERE schemaname = 'holdfast'", name)


@pytest.fixture
async def connection(citus_url):
    opened = await asyncpg.connect(citus_url)
    yield opened
    await opened.close()


async def test_servers_that_are_down_or_hang_are_lost(fresh_postgres_url):
    """The functions answer as Citus does, and as the server's time limit for a statement."""
    opened = await asyncpg.connect(fresh_postgres_url)
    await opened.execute(
        "CREATE TABLE pg_dist_node AS SELECT * FROM (VALUES ('a', 1), ('b', 2), ('c', 3)) AS t (nodename, nodeport);"
        "CREATE FUNCTION citus_check_connection_to_node(name text, port int) RETURNS boolean LANGUAGE plpgsql AS $$"
        "BEGIN IF name = 'c' THEN RAISE SQLSTATE '57014'; END IF; RETURN name <> 'b'; END $$"
    )
    assert await lost_servers(opened) == ["b:2", "c:3"]
    await opened.close()


async def test_equal_shards_of_all_tables_are_on_one_server(connection, citus_url):
    await migrate(parse_address(citus_url))
    rows = await connection.fetch(
        "SELECT c.relname, p.colocationid FROM pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid"
    )
    assert {row["relname"] for row in rows} == set(TABLES) - NOT_ABOUT_AN_IDENTIFIER
    assert len({row["colocationid"] for row in rows}) == 1


async def test_a_look_up_reads_the_shards_of_its_keys(connection):
    claim = [[shard_of("handle", "ann")], ["handle"], ["ann"]]
    plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {reads.CLAIM.on_citus}", *claim))
    assert "Task Count: 1\n" in plan, plan


async def test_a_node_is_ready_and_the_check_satisfied(citus_url):
    database = PostgresqlDatabase(citus_url)
    store = database.open()
    await store.ping()
    await store.close()
    found = {finding.subject: finding for finding in database.findings(1)}
    assert (found["citus"].state, found["citus"].fix) == ("ok", "")
    assert not found.keys() & {"workers", "tables"}


async def test_shards_are_not_hidden_from_stores_and_commands(citus_url):
    """Hiding them makes the driver's first query on a connection a hundred times as slow."""
    connection = await open_connection(Servers(parse_address(citus_url)), PATIENCE_S)
    assert await connection.fetchval("SHOW citus.override_table_visibility") == "off"
    await connection.close()


async def test_a_worker_without_room_or_durable_commits_is_reported(connection, citus_url):
    """A limit for temporary files stands for a full disk."""
    host, port = await connection.fetchrow("SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 LIMIT 1")
    database, worker = PostgresqlDatabase(citus_url), await asyncpg.connect(citus_url, host=host, port=port)
    store = database.open()
    await store.require_room()
    database.try_write()
    try:
        await worker.execute("ALTER SYSTEM SET temp_file_limit = 64")
        await worker.execute("ALTER SYSTEM SET synchronous_commit = off")
        await worker.fetch("SELECT pg_reload_conf(), pg_sleep(1)")
        with pytest.raises(StoreUnavailable, match=f"{port}: .*temp_file_limit"):
            await store.require_room()
        with pytest.raises(StoreUnavailable, match=f"{port}: .*temp_file_limit"):
            database.try_write()
        (found,) = [finding for finding in database.findings(1) if finding.subject == "workers"]
        assert (found.state, found.found) == ("error", f"{host}:{port} synchronous_commit off")
    finally:
        await worker.execute("ALTER SYSTEM RESET temp_file_limit")
        await worker.execute("ALTER SYSTEM RESET synchronous_commit")
        await worker.fetch("SELECT pg_reload_conf()")
        await worker.close()
        await store.close()
