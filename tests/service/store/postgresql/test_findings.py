"""What `holdfast check` reports about real PostgreSQL servers with one problem each, and how it judges clocks."""

import asyncio
import re
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from tests.support.pgbouncer import needs_pgbouncer, pooled
from tests.support.postgres_server import USER, PostgresServer, running
from tests.support.serving import becomes_true
from tests.support.store_cases import admit, session

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import findings
from holdfast.service.store.postgresql.database import PostgresqlDatabase, in_thread
from holdfast.service.store.postgresql.findings import clock, version
from holdfast.service.store.postgresql.findings_connections import PER_PROCESS, room
from holdfast.service.store.postgresql.findings_replication import absent_standbys


@pytest.fixture(scope="module")
def server():
    with running(archive_mode="on", archive_command="test ! -f refused") as started:
        yield started


@pytest.fixture(scope="module")
def database(server):
    made = PostgresqlDatabase(server.new_database())
    in_thread(made.open().close)
    return made


def name_of(database):
    return database.address.dsn.rpartition("/")[2]


def found(database, workers=1):
    return {finding.subject: finding for finding in database.findings(workers)}


@contextmanager
def changed(server, setting, value):
    server.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
    server.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        server.execute(f"ALTER SYSTEM RESET {setting}")
        server.execute("SELECT pg_reload_conf()")


def test_a_sound_server(database):
    states = {name: finding.state for name, finding in found(database).items()}
    assert states.pop("commits") == "note", "no standby"
    assert set(states.values()) == {"ok"}, states
    assert states.keys() >= {"fsync", "schema", "archive", "connections", "pooler", "database clock"}


@pytest.mark.parametrize(("setting", "value", "subject", "state"), [
    ("fsync", "off", "fsync", "error"),
    ("full_page_writes", "off", "full_page_writes", "error"),
    ("synchronous_commit", "off", "commits", "note"),
    ("synchronous_commit", "local", "commits", "note"),
    ("default_transaction_isolation", "serializable", "default_transaction_isolation", "error"),
    ("default_transaction_read_only", "on", "default_transaction_read_only", "error"),
    ("synchronous_standby_names", "FIRST 1 (gone)", "commits", "error"),
])  # fmt: skip
def test_one_wrong_setting(server, database, setting, value, subject, state):
    with changed(server, setting, value):
        finding = found(database)[subject]
        assert (finding.state, bool(finding.fix)) == (state, True), finding


def test_a_write_that_waits_for_a_standby_ends(server, database):
    """The check must not hang while a write waits for a standby, and must still print its other findings."""

    def ends():
        """The server reads its settings again a moment after it was told to; a write before waits for no one."""
        try:
            database.try_write()
        except StoreUnavailable:
            return True
        return False

    with changed(server, "synchronous_standby_names", "gone"):
        assert becomes_true(ends)
        assert "no synchronous standby is connected" in found(database)["commits"].found


def test_one_of_two_standbys_is_gone_and_its_slot_keeps_wal(server, database):
    standby = PostgresServer()
    try:
        standby.follow(server, "one").start()
        server.set(synchronous_standby_names="ANY 1 (one, two)")
        findings = found(database)
        assert (findings["commits"].state, findings["standbys"].state) == ("ok", "note")
        assert "two" in findings["standbys"].found
        assert "replication slots" not in findings
        server.execute("SELECT pg_create_physical_replication_slot('two', true)")
        assert found(database)["replication slots"].state == "error"
        server.set(max_slot_wal_keep_size="1GB")
        assert found(database)["replication slots"].state == "note"
    finally:
        server.set(synchronous_standby_names="", max_slot_wal_keep_size="-1")
        standby.remove()
        server.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")


def test_an_archive_that_refuses(server, database):
    (server.data / "refused").touch()
    server.execute("SELECT pg_switch_wal()")
    server.execute("CREATE TABLE IF NOT EXISTS moved (n int)", name_of(database))
    server.execute("SELECT pg_switch_wal()")
    failed = "SELECT 1 FROM pg_stat_archiver WHERE last_failed_time IS NOT NULL"
    assert becomes_true(lambda: bool(server.execute(failed)))
    assert found(database)["archive"].state == "error"
    (server.data / "refused").unlink()


def test_too_few_connections(server, database):
    name = name_of(database)
    states = []
    for limit in (PER_PROCESS * 2 - 1, PER_PROCESS * 4 - 1, PER_PROCESS * 4):
        server.execute(f"ALTER DATABASE {name} CONNECTION LIMIT {limit}")
        states.append(found(database, workers=2)["connections"].state)
    server.execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1")
    assert states == ["error", "note", "ok"]
    assert room(100, 95, 1).state == "error", "other programs hold most"


async def test_a_node_holds_no_more_connections_than_the_check_counts(server, patient_stores):
    store = PostgresqlDatabase(server.new_database()).open()
    await asyncio.gather(
        *(store.open_session(session(ip=f"192.0.2.{n}"), admit) for n in range(20)), return_exceptions=True
    )
    rows = server.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'")
    await store.close()
    assert 1 <= rows[0][0] <= PER_PROCESS


def test_a_cluster_without_checksums_and_a_database_of_another_encoding():
    server = PostgresServer()
    try:
        server.create().run("pg_checksums", "--disable", "-D", str(server.data))
        server.start().execute("CREATE DATABASE latin ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
        database = PostgresqlDatabase(server.url("latin"))
        in_thread(database.open().close)
        findings = found(database)
    finally:
        server.remove()
    assert (findings["data_checksums"].state, findings["data_checksums"].found) == ("note", "off")
    assert "pg_checksums --enable" in findings["data_checksums"].fix
    assert findings["server_encoding"].state == "error"


@pytest.mark.parametrize(("ahead_s", "state"), [(-60.0, "error"), (0.0, "ok"), (60.0, "error")])
def test_a_machine_whose_clock_differs_from_the_servers(database, monkeypatch, ahead_s, state):
    here = SimpleNamespace(time=lambda: time.time() + ahead_s)
    monkeypatch.setattr(findings, "time", here)
    finding = found(database)["database clock"]
    assert finding.state == state, finding
    off = re.search(r"differs by ([\d.]+) s", finding.found)
    assert (off is None) == (state == "ok")
    assert off is None or 30 < float(off[1]) < 60.5, "less the time that the question took"


def test_a_schema_of_a_newer_release(server, database):
    server.execute("UPDATE holdfast.schema_version SET version = version + 1", name_of(database))
    assert found(database)["schema"].state == "note"
    server.execute("UPDATE holdfast.schema_version SET version = version - 1", name_of(database))


@needs_pgbouncer
def test_a_pooler(server, database):
    url = database.address.dsn
    assert found(PostgresqlDatabase(url + "?pooler=transaction"))["pooler"].state == "note", "no pooler"
    with pooled(server, url) as behind:
        findings = found(PostgresqlDatabase(behind))
        assert (findings["pooler"].state, findings["limits of the role"].state) == ("ok", "error")
        assert "role on Citus" not in findings
        for setting in ("statement_timeout = '1s'", "lock_timeout = '1s'", "citus.override_table_visibility = on"):
            server.execute(f"ALTER ROLE {USER} SET {setting}")
    with pooled(server, url) as behind:  # on new connections
        findings = found(PostgresqlDatabase(behind))
        assert "idle_in_transaction_session_timeout" in findings["limits of the role"].found
        assert findings["role on Citus"].state == "error"


@needs_pgbouncer
@pytest.mark.parametrize("prepared", [False, True])
def test_a_pooler_that_loses_prepared_statements(server, database, *, prepared):
    with pooled(server, database.address.dsn, prepared=prepared) as behind:
        claimed = PostgresqlDatabase(behind.replace("pooler=transaction", "pooler=prepared"))
        assert found(claimed)["prepared statements"].state == ("ok" if prepared else "error")


def test_clocks_and_versions():
    assert clock(10.0, 10.2, 10.1).state == clock(10.0, 10.2, 9.1).state == "ok"
    assert {clock(10.0, 10.2, theirs).state for theirs in (8.9, 11.3)} == {"error"}
    assert (version(140000).state, version(139999).state) == ("ok", "error")


@pytest.mark.parametrize(
    ("names", "absent"),
    [("", []), ("*", []), ("a", []), ("a, b", ["b"]), ("FIRST 1 (a, b)", ["b"]), ('ANY 1 ("a", c)', ["c"]),
     ("2 (a, b, c)", ["b", "c"])],
)  # fmt: skip
def test_standbys_that_are_named(names, absent):
    streaming = [{"application_name": "a", "state": "streaming", "sync_state": "sync"}]
    notes = absent_standbys(names, streaming)
    assert [note.found.rpartition(": ")[2] for note in notes] == ([", ".join(absent)] if absent else [])
