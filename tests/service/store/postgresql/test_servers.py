"""The primary among several servers is found while other servers are silent, refuse, or are primaries of the past."""

import pytest
from tests.support.postgres_server import USER, PostgresServer, running
from tests.support.serving import PATIENCE_S
from tests.support.silent_host import hanging_host, unreachable_host

from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.servers import NotConnected, OlderTimeline, Servers

SILENT = [hanging_host, unreachable_host]
SOON_S, LONG_S = 3.0, 3600.0


def servers(*ports, user=USER, more=""):
    return Servers(parse_address(url(*ports, user=user) + more))


def url(*ports, user=USER, database="postgres"):
    return f"postgresql://{user}@{','.join(f'127.0.0.1:{port}' for port in ports)}/{database}"


async def port_of(connecting, within_s=PATIENCE_S):
    connection = await connecting.connect(within_s)
    try:
        return int(await connection.fetchval("SELECT inet_server_port()"))
    finally:
        connection.terminate()


@pytest.mark.parametrize("silent", SILENT)
async def test_a_silent_host_does_not_hide_the_primary(silent, postgres, monkeypatch):
    with silent() as port:
        for order in ((postgres.port, port), (port, postgres.port)):
            connecting = servers(*order)
            assert await port_of(connecting) == postgres.port
        monkeypatch.setattr("holdfast.service.store.postgresql.servers.STAGGER_S", LONG_S)
        assert await port_of(connecting) == postgres.port, "the server that was used last is tried first"


async def test_what_opens_connections_gets_past_a_silent_first_host(postgres, fresh_postgres_url):
    with hanging_host() as port:
        named = url(port, postgres.port, database=fresh_postgres_url.rpartition("/")[2])
        database = PostgresqlDatabase(named)
        store = database.open()  # migrates, as `holdfast migrate` does
        await store.ping()
        await store.close()
        assert database.findings(1)


async def test_every_servers_error_is_named(postgres):
    with hanging_host() as hanging, unreachable_host() as unreachable:
        for connecting, within_s, errors in (
            (servers(hanging, unreachable), 0.3, {"TimeoutError"}),
            (servers(hanging, postgres.port, user="nobody_known"), SOON_S, {"InvalidAuthorizationSpecificationError", "TimeoutError"}),
        ):  # fmt: skip
            with pytest.raises(NotConnected) as failed:
                await connecting.connect(within_s)
            assert {type(error).__name__ for error in failed.value.errors} == errors


@pytest.fixture(scope="module")
def old_and_new():
    """A primary that was not stopped when its standby was promoted."""
    with running() as old:
        new = PostgresServer()
        try:
            old.execute("CREATE ROLE plain LOGIN")
            new.follow(old, "standby").start()
            new.promote()
            yield old, new
        finally:
            new.remove()


async def test_of_two_primaries_the_one_that_was_promoted_last_is_used_and_the_other_never_again(
    old_and_new, monkeypatch
):
    monkeypatch.setattr("holdfast.service.store.postgresql.servers.NEWER_WITHIN_S", PATIENCE_S)
    old, new = old_and_new
    for order in ((new.port, old.port), (old.port, new.port)):
        connecting = servers(*order, user="plain")
        assert await port_of(connecting) == new.port
    new.stop()
    try:
        with pytest.raises(NotConnected) as failed:
            await port_of(connecting, SOON_S)
        assert OlderTimeline in {type(error) for error in failed.value.errors}
        assert await port_of(servers(old.port, new.port)) == old.port, "another process decides by what it finds"
    finally:
        new.start()


async def test_of_several_servers_one_that_takes_writes_is_used(postgres):
    standby = PostgresServer()
    try:
        standby.follow(postgres, "reads_only").start()
        assert await port_of(servers(standby.port, postgres.port)) == postgres.port
        reading = servers(standby.port, postgres.port, more="?target_session_attrs=read-only")
        assert await port_of(reading) == standby.port
    finally:
        standby.remove()
        postgres.execute("SELECT pg_drop_replication_slot('reads_only')")
