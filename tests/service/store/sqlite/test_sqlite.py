"""What the embedded store guarantees in addition to the contract: durability, files, migrations and upkeep."""

import asyncio
import contextlib
import functools
import json
import os
import sqlite3
import stat

import pytest
from tests.support.store_cases import NOW, admit, code, handle, sends, session

from holdfast.service.store.database import InUse, SchemaTooNew
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import (
    admin,
    confirmations,
    migrations,
    persons,
    progress,
    recoveries,
    schema,
    snapshot_index,
    snapshot_waste,
    upkeep,
)
from holdfast.service.store.sqlite.admin import backup_to, check_backup, every_row, restore_from
from holdfast.service.store.sqlite.database import SqliteDatabase
from holdfast.service.store.sqlite.hashes import pack_hash, unpack_hash
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.settings.shared import default_url


async def test_durable_pragmas_and_files_for_the_owner_alone(tmp_path):
    with contextlib.closing(schema.connect(tmp_path / "x.db")) as connection:
        names = ("journal_mode", "synchronous", "foreign_keys")
        pragmas = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
    assert pragmas == ["wal", 2, 1]
    store = SqliteStore(tmp_path / "x.db")
    await store.open_session(session(handle("a")), admit)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    await store.close()
    assert modes == {"x.db": 0o600, "x.db-wal": 0o600, "x.db-shm": 0o600}


def test_the_log_that_a_long_read_made_grow_becomes_short_again(tmp_path):
    file = tmp_path / "x.db"
    with contextlib.closing(schema.connect(file)) as writer, contextlib.closing(schema.connect(file)) as reader:
        writer.execute("CREATE TABLE kept (bytes)")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM kept").fetchall()
        for size in (schema.LOG_BYTES, schema.LOG_BYTES, 1):
            writer.execute("INSERT INTO kept VALUES (zeroblob(?))", (size,))
        reader.execute("COMMIT")
        for _ in range(2):
            writer.execute("INSERT INTO kept VALUES (1)")
        assert file.with_name("x.db-wal").stat().st_size <= schema.LOG_BYTES


async def test_migrations_run_once_and_all_or_nothing_and_a_newer_schema_is_refused(tmp_path, monkeypatch):
    await SqliteStore(tmp_path / "x.db").close()
    broken = (*migrations.MIGRATIONS, "CREATE TABLE extra (id INTEGER) STRICT; THIS IS NO SQL")
    with monkeypatch.context() as next_release:
        next_release.setattr(schema, "MIGRATIONS", broken)
        next_release.setattr(schema, "SCHEMA_VERSION", len(broken))
        with pytest.raises(StoreUnavailable):
            SqliteStore(tmp_path / "x.db")
        large = "CREATE TABLE extra (kept BLOB) STRICT; INSERT INTO extra VALUES (zeroblob(99999999))"
        next_release.setattr(schema, "MIGRATIONS", (*migrations.MIGRATIONS, large))
        with contextlib.closing(schema.connect(tmp_path / "x.db")) as connection:
            connection.execute("PRAGMA max_page_count = 500")
            with pytest.raises(sqlite3.OperationalError, match="disk is full"):
                schema.migrate(connection)
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(broken) - 1
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone()[0] == 0
        connection.execute(f"PRAGMA user_version = {migrations.SCHEMA_VERSION + 1}")
    with pytest.raises(SchemaTooNew, match="install the newer release"):
        SqliteStore(tmp_path / "x.db")


async def test_an_identifier_that_cannot_be_read_is_unavailable(tmp_path):
    store = SqliteStore(tmp_path / "x.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("DROP TABLE verifications")
    with pytest.raises(StoreUnavailable):
        await store.describe("handle", "ann")
    await store.close()


def test_a_file_that_is_no_database_or_of_another_user_is_unavailable(tmp_path, monkeypatch):
    """The tests may run as root, who may open every file, so the system's refusal is simulated."""
    (tmp_path / "x.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreUnavailable):
        SqliteStore(tmp_path / "x.db")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(StoreUnavailable, match=r"x\.db: .* \(it belongs to user \d+, and this process runs as \d+\)"):
        SqliteStore(tmp_path / "x.db")


class Busy(sqlite3.Connection):
    """A source of copies that another connection changes again and again meanwhile."""

    def backup(self, target, **_):
        lefts, (_, _, file) = [], self.execute("PRAGMA database_list").fetchone()

        def change(_status, left, _of):
            assert not lefts or left < lefts[-1], "the copy began anew"
            lefts.append(left)
            with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("PRAGMA synchronous = OFF")
                other.execute("INSERT INTO totals VALUES (?, 1)", (str(left),))

        super().backup(target, pages=16, progress=change)


async def test_backup_while_writing_then_restore(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "x.db")
    await store.keep_code(code(b"\x00\xff"))
    for number in range(50):
        await store.open_session(session(handle(f"n{number}")), admit)
    with monkeypatch.context() as busy:
        busy.setattr(admin.sqlite3, "connect", functools.partial(sqlite3.connect, factory=Busy))
        await asyncio.to_thread(backup_to, tmp_path / "x.db", tmp_path / "copy.db")
    await store.close()
    assert check_backup(tmp_path / "copy.db") == migrations.SCHEMA_VERSION
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    rows = [json.loads(json.dumps(row)) for row in every_row(tmp_path / "copy.db")]
    assert {row["table"] for row in rows} >= {"identifiers", "codes", "audit", "totals", "ip_counters"}
    assert [row["digest"] for row in rows if row["table"] == "codes"] == ["00ff"], "every row is plain JSON"
    names = {row["key"] for row in rows if row["table"] == "identifiers"}
    assert names == {f"n{number}" for number in range(50)}
    restore_from(tmp_path / "copy.db", tmp_path / "x.db")
    await SqliteStore(tmp_path / "x.db").close()
    assert {row["key"] for row in every_row(tmp_path / "x.db") if row["table"] == "identifiers"} == names
    started = []

    def slow(*files):
        backup_to(*files)
        started.append(SqliteStore(tmp_path / "x.db"))

    monkeypatch.setattr(admin, "backup_to", slow)
    with pytest.raises(InUse):
        restore_from(tmp_path / "copy.db", tmp_path / "x.db")
    await started[0].keep_code(code(b"stored"))
    await started[0].close()
    assert {file.name for file in tmp_path.iterdir()} == {"x.db", "copy.db"}


async def test_two_backups_to_one_file_are_whole_and_what_a_killed_one_left_goes(tmp_path, monkeypatch):
    await SqliteStore(tmp_path / "x.db").close()
    copy, left = tmp_path / "copy.db", tmp_path / "copy.db.killed.partial"

    class Second(sqlite3.Connection):
        def backup(self, target, **_):
            with monkeypatch.context() as usual:
                usual.setattr(admin.sqlite3, "connect", connect)
                backup_to(tmp_path / "x.db", copy)
                check_backup(copy)
            super().backup(target)

    left.touch()
    os.utime(left, (0, 0))
    connect = sqlite3.connect
    monkeypatch.setattr(admin.sqlite3, "connect", functools.partial(connect, factory=Second))
    backup_to(tmp_path / "x.db", copy)
    assert check_backup(copy) == migrations.SCHEMA_VERSION
    assert not list(tmp_path.glob("*.partial"))


def test_what_is_due_and_what_is_over_is_found_through_an_index(tmp_path):
    connection = schema.connect(tmp_path / "x.db")
    schema.migrate(connection)
    statements = {
        confirmations.DUE: (1.0, 1), "DELETE FROM audit WHERE action IN ('code_sent', 'refused') AND at < ?": (1.0,),
        "DELETE FROM credentials WHERE confirmation = 'refused' AND settled_at < ?": (1.0,),
        "DELETE FROM charges WHERE at < ?": (1.0,), snapshot_index.IS_REGISTERED: ("did:new:0x1",),
        "SELECT id FROM audit WHERE at < ? AND substr(key, 1, 5) <> 'hash ' LIMIT 9": (1.0,),
        **{
            statement: ("did:new:0x1", "hash 1")[: 1 + ("?2" in statement)]
            for name, statement in persons.EXPORT.items()
            if name != "revocations"  # a small table
        },
        "SELECT at FROM charges WHERE what = ? AND subject = ? AND at > ? ORDER BY at DESC LIMIT 1": ("a", "b", 1.0),
        recoveries.NAMES: ("did:new:0x1",), recoveries.ADDRESSES: ("did:new:0x1",),
    }  # fmt: skip
    for statement, values in statements.items():
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
        scans = [row[3] for row in plan if row[3].startswith("SCAN") and "INDEX" not in row[3]]
        assert not [row for row in plan if row[3].endswith("(channel=?)")], "nearly all rows are of one channel"
        assert not [scan for scan in scans if scan.split()[1] in migrations.TABLES], plan
    connection.close()


def test_a_long_migration_says_that_it_goes_on(tmp_path, monkeypatch, caplog):
    older = migrations.SCHEMA_VERSION
    with contextlib.closing(schema.connect(tmp_path / "x.db")) as connection:
        schema.migrate(connection)
    more = ("CREATE TABLE extra (id INTEGER) STRICT", "INSERT INTO extra SELECT count(*) FROM identifiers")
    monkeypatch.setattr(schema, "MIGRATIONS", (*migrations.MIGRATIONS, *more))
    monkeypatch.setattr(schema, "SCHEMA_VERSION", older + len(more))
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    monkeypatch.setattr(progress, "INSTRUCTIONS", 1)
    with caplog.at_level("INFO", "holdfast.store"), contextlib.closing(schema.connect(tmp_path / "x.db")) as connection:
        schema.migrate(connection)
        told = [(row.step, row.of) for row in caplog.records if "being migrated" in row.message]
        caplog.clear()
        connection.execute("SELECT count(*) FROM identifiers").fetchone()
    assert {step for step, _ in told} == {older + 1, older + 2}
    assert {of for _, of in told} == {older + 2}
    assert not caplog.records, "the connection is used for other things afterwards"


@pytest.mark.parametrize(("text", "kept"), [
    ("0x" + "0a" * 32, b"\n" * 32), ("0x" + "0A" * 32, "0x" + "0A" * 32), ("0x0a", "0x0a"), ("0a" * 33, "0a" * 33),
    ("tx", "tx"),
])  # fmt: skip
def test_a_hash_is_kept_as_bytes_and_comes_back_as_sent(text, kept):
    assert pack_hash(text) == kept
    assert unpack_hash(pack_hash(text)) == text


def counted(monkeypatch, room, parts):
    expire = room.expire

    def noting(*arguments):
        parts.append(expire(*arguments))
        return parts[-1]

    monkeypatch.setattr(room, "expire", noting)


async def test_a_write_waits_for_one_part_of_the_upkeep_only(tmp_path, monkeypatch):
    store = SqliteDatabase(default_url(tmp_path)).open()
    monkeypatch.setattr(upkeep, "AT_ONCE", 10)
    parts = []
    counted(monkeypatch, upkeep, parts)
    for n in range(45):
        await store.charge((sends(99),), NOW + n)
    removing = asyncio.create_task(store.expire(NOW + 3 * 86400))
    assert await store.take_lease("chore", "a", NOW, 60)
    assert not removing.done(), "the write did not wait for the whole"
    assert await removing == 45
    assert parts == [10, 10, 10, 10, 5]
    parts.clear()
    counted(monkeypatch, snapshot_waste, parts)
    for n in range(25):
        await store.snapshots.revoke("did:a:1", f"cid{n}", NOW, NOW + 60)
    assert await store.snapshots.expire(NOW + 2 * 86400) == 25
    assert parts == [10, 10, 5]
    await store.close()
