"""Connections: plans stay quick as tables grow, a silent server is waited for once, and a wrong clock writes nothing."""

import asyncio
import time

import pytest
from tests.support.postgres_server import USER
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.store_cases import MAIL, admit, attempt, code, sends, session
from tests.support.tcp_proxy import proxied

from holdfast.rules.identifiers import Channel, Identifier
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import clock, connection
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.connection import NotReached, StoreConnection
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.servers import Servers
from holdfast.service.store.values import NewRepeat

ROWS_READ = (
    "SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE schemaname = 'holdfast' AND relname IN"
    " ('identifiers', 'ip_counters')"
)


async def open_sessions(store, first, count):
    numbers = range(first, first + count)
    asked = [(Identifier(Channel.HANDLE, f"name{n}", f"name{n}"), f"10.0.{n >> 8}.{n & 255}") for n in numbers]
    await asyncio.gather(*(store.open_session(session(who, ip=ip), admit) for who, ip in asked))


async def test_plans_made_while_tables_were_small_read_by_key(postgres, fresh_postgres_url, patient_stores):
    name = fresh_postgres_url.rpartition("/")[2]  # a new database, so its statistics come from this test only
    pg_store = PostgresqlDatabase(fresh_postgres_url).open()
    await open_sessions(pg_store, 0, 50)
    postgres.execute("ANALYZE", name)
    for first in range(50, 800, 50):
        await open_sessions(pg_store, first, 50)
        await asyncio.gather(*(pg_store.is_claimed("handle", f"name{n}") for n in range(first, first + 50)))
        await asyncio.gather(*(pg_store.find_credential(f"none{n}") for n in range(50)))
    await pg_store.close()  # the server's processes report their statistics when they end
    running = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = current_database()"
    )
    assert await asyncio.to_thread(becomes_true, lambda: postgres.execute(running, name)[0][0] == 0)
    written = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'identifiers'"
    assert postgres.execute(written, name)[0][0] >= 800
    assert not [row for row in postgres.execute(ROWS_READ, name) if row[1]]


async def test_one_connections_silence_is_not_waited_for_by_the_others(postgres, monkeypatch):
    with proxied(postgres.port) as hanging:
        hosts = f"127.0.0.1:{hanging.port},127.0.0.1:{postgres.port}"
        servers = Servers(parse_address(f"postgresql://{USER}@{hosts}/postgres"))
        first, second = StoreConnection(servers), StoreConnection(servers)
        for each in (first, second):
            assert await each.fetch("SELECT 1", ())
        hanging.cut()
        monkeypatch.setattr(connection, "ANSWER_S", 0.2)
        with pytest.raises(StoreUnavailable):
            await first.fetch("SELECT 1", ())
        monkeypatch.setattr(connection, "ANSWER_S", 10 * PATIENCE_S)
        monkeypatch.setattr(connection, "CONNECT_S", PATIENCE_S)
        async with asyncio.timeout(PATIENCE_S):
            assert await second.fetch("SELECT 2", ())
        hanging.restore()
        for each in (first, second):
            await each.close()


@pytest.mark.parametrize(("found", "used"), [("off", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")])
async def test_commits_wait_for_the_disk_whatever_the_role_says(postgres, found, used):
    postgres.execute(f"CREATE ROLE {(role := 'hasty_' + found)} LOGIN")
    postgres.execute(f"ALTER ROLE {role} SET synchronous_commit = {found}")
    one = StoreConnection(Servers(parse_address(postgres.url().replace(f"{USER}@", f"{role}@"))))
    assert (await one.fetch("SELECT current_setting('synchronous_commit')", ()))[0][0] == used
    await one.close()
    postgres.execute(f"DROP ROLE {role}")


class ClosedAtOnce(Servers):
    """The server ends each connection before it is used, as when it is killed while the other servers are awaited."""

    async def connect(self, within_s, **options):
        connection = await super().connect(within_s, **options)
        connection.terminate()
        await asyncio.sleep(0)  # the transport closes its socket in the loop's next round
        return connection


async def test_a_connection_that_ends_before_its_first_use_is_no_internal_error(postgres):
    address = parse_address(f"postgresql://{USER}@127.0.0.1:{postgres.port}/postgres")
    with pytest.raises(NotReached):
        await StoreConnection(ClosedAtOnce(address)).fetch("SELECT 1", ())


def set_clock(monkeypatch, offset_s):
    monkeypatch.setattr(clock, "wall", lambda: time.time() + offset_s)


@pytest.mark.parametrize("offset_s", [-3600.0, -70.0, 70.0, 25 * 3600.0])
async def test_a_clock_that_is_set_wrong_stops_writes_until_it_is_right(pg_store, monkeypatch, caplog, offset_s):
    await pg_store.charge((sends(9),), time.time())
    set_clock(monkeypatch, offset_s)
    now = time.time() + offset_s
    repeat = NewRepeat(key=b"k", bodies=(b"b",), now=now, lease_s=1, retention_s=9, quotas=())
    for write in (
        pg_store.charge((sends(9),), now),
        pg_store.count_attempt(attempt(now)),
        pg_store.keep_code(code()),
        pg_store.begin(repeat),
        pg_store.open_session(session(), lambda _facts: None),
        pg_store.expire(now),
        pg_store.snapshots.expire(now),
        pg_store.ping(),
    ):
        with pytest.raises(StoreUnavailable, match="clock is"):
            await write
    assert "clock off" in caplog.text
    assert await pg_store.verified_at(MAIL) is None, "what is read is still told"
    for accepted_s in (-50.0, 50.0):
        set_clock(monkeypatch, accepted_s)
        await pg_store.charge((sends(9),), time.time())
        await pg_store.ping()


async def test_parallel_writes_ask_for_the_time_once(pg_store, monkeypatch):
    asked = []

    def counting():
        asked.append(time.time())
        return asked[-1]

    await pg_store.charge((sends(99),), time.time())
    monkeypatch.setattr(clock, "EVERY_S", 0.0)
    monkeypatch.setattr(clock, "wall", counting)
    await asyncio.gather(*(pg_store.charge((sends(99),), time.time()) for _ in range(20)))
    assert len(asked) <= 20 + 2, "one look per write, and one comparison before and after"
