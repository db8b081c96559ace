"""Group commits: when they wait, and what happens when the file, the disk or the library fails while the store is open."""

import asyncio
import contextlib
import sqlite3
import threading
from itertools import count
from typing import ClassVar

import pytest
from tests.support.serving import PATIENCE_S
from tests.support.store_cases import admit, handle, session

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import writer
from holdfast.service.store.sqlite.migrations import SCHEMA_VERSION
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.service.store.sqlite.writer import PACE_S, GroupCommitWriter


class Failing(sqlite3.Connection):
    failures: ClassVar[dict[str, Exception]] = {}

    def execute(self, statement, *parameters):
        if statement in self.failures:
            raise self.failures[statement]
        return super().execute(statement, *parameters)


@pytest.fixture
def connection(tmp_path):
    opened = sqlite3.connect(tmp_path / "t.db", factory=Failing, isolation_level=None, check_same_thread=False)
    with contextlib.closing(opened):
        opened.execute("CREATE TABLE t (x)")
        yield opened
    Failing.failures = {}


@pytest.fixture
async def store(tmp_path):
    opened = SqliteStore(tmp_path / "x.db")
    yield opened
    await opened.close()


async def test_waiting_writers_share_one_commit(connection):
    commits = []
    connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    writing, all_there = GroupCommitWriter(connection, lambda: None), threading.Event()
    first = asyncio.create_task(writing.write(lambda _: all_there.wait()))
    others = asyncio.gather(*(writing.write(insert) for _ in range(200)))
    await asyncio.sleep(0)  # all of them have submitted their work
    all_there.set()
    await asyncio.gather(first, others)
    await writing.close()
    assert 1 <= len(commits) <= 2


@pytest.mark.parametrize(("reads", "together", "pauses"), [(0, 2, 0), (1, 1, 0), (1, 2, 1)])
async def test_commits_are_paced_only_after_shared_ones_while_others_read(
    connection, monkeypatch, reads, together, pauses
):
    slept = []
    monkeypatch.setattr("holdfast.service.store.sqlite.writer.sleep", slept.append)
    paced = GroupCommitWriter(connection, lambda: None, count(step=reads).__next__)
    taken, all_there = threading.Event(), threading.Event()
    alone = asyncio.create_task(paced.write(lambda _: (taken.set(), all_there.wait())))
    await asyncio.to_thread(taken.wait)
    rest = asyncio.gather(*(paced.write(lambda _: None) for _ in range(together)))
    await asyncio.sleep(0)
    all_there.set()
    await asyncio.gather(alone, rest)
    await paced.close()
    assert slept == [PACE_S] * pauses


async def test_a_stalled_disk_fails_what_waits_and_what_has_not_begun_never_begins(connection, monkeypatch):
    monkeypatch.setattr(writer, "ANSWER_S", 0.05)
    stalled = GroupCommitWriter(connection, lambda: None)
    begun, goes_on, done = threading.Event(), threading.Event(), []
    first = asyncio.create_task(stalled.write(lambda _: (begun.set(), goes_on.wait(), done.append("first"))))
    await asyncio.to_thread(begun.wait)
    for waiting in (first, stalled.write(lambda _: done.append("second"))):
        with pytest.raises(StoreUnavailable, match="the disk stalls"):
            await waiting
    monkeypatch.setattr(writer, "ANSWER_S", PATIENCE_S)
    goes_on.set()
    await stalled.write(lambda _: done.append("third"))
    await stalled.close()
    assert done == ["first", "third"]


async def test_a_read_after_a_write_writes_nothing(store, tmp_path):
    """A write to the mapped index of the log would wait for a stalled disk, and the whole process with it."""
    index = tmp_path / "x.db-shm"
    for number in range(3):
        await store.open_session(session(handle(f"name{number}")), admit)
        before = index.read_bytes()
        assert await store.is_claimed("handle", f"name{number}")
        await asyncio.sleep(0)
        assert index.read_bytes() == before


async def assert_unusable(store):
    with pytest.raises(StoreUnavailable, match="restart"):
        await store.open_session(session(handle("lost")), admit)
    with pytest.raises(StoreUnavailable, match="restart"):
        await store.ping()


@pytest.mark.parametrize("fault", ["x.db", "x.db-wal", "replaced"])
async def test_nothing_is_called_stored_once_a_file_is_deleted_or_replaced(store, tmp_path, fault):
    await store.open_session(session(handle("kept")), admit)
    if fault == "replaced":
        await SqliteStore(tmp_path / "y.db").close()
        (tmp_path / "y.db").replace(tmp_path / "x.db")
    else:
        (tmp_path / fault).unlink()
    await assert_unusable(store)


async def test_a_file_that_comes_back_is_used_again(store, tmp_path):
    (tmp_path / "x.db").rename(tmp_path / "elsewhere")
    await assert_unusable(store)
    (tmp_path / "elsewhere").rename(tmp_path / "x.db")
    await store.ping()
    await store.open_session(session(handle("kept")), admit)
    assert await store.claim_of("handle", "kept") is not None


async def test_a_schema_that_another_process_made_newer_is_not_ready(store, tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as other, other:
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreUnavailable, match="schema"):
        await store.ping()


def insert(connection):
    connection.execute("INSERT INTO t VALUES (1)")


def fail_half_way(connection):
    insert(connection)
    raise KeyError("a bug after the first write")


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "SAVEPOINT one", "INSERT INTO t VALUES (1)", "COMMIT"])
@pytest.mark.parametrize("error", [
    sqlite3.OperationalError("disk I/O error"),
    sqlite3.DatabaseError("malformed"),
    sqlite3.InternalError("bug"),
    MemoryError(),
])  # fmt: skip
@pytest.mark.parametrize("rollback_fails", [False, True])
async def test_only_the_request_whose_statement_fails_fails(connection, statement, error, rollback_fails):
    writing = GroupCommitWriter(connection, lambda: None)
    Failing.failures = {statement: error, **({"ROLLBACK": error} if rollback_fails else {})}
    # Savepoints are used only for a batch in which a job has failed after writing.
    work = fail_half_way if statement == "SAVEPOINT one" else insert
    for _ in range(2):
        with pytest.raises((StoreUnavailable, MemoryError)):
            await writing.write(work)
    Failing.failures = {}
    if rollback_fails and connection.in_transaction:
        with pytest.raises(StoreUnavailable):
            await writing.write(insert)  # this turn ends the transaction that could not be ended earlier
    await writing.write(insert)
    assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 1
    await writing.close()


async def test_a_job_that_fails_half_way_leaves_nothing_and_fails_no_other(connection):
    writing = GroupCommitWriter(connection, lambda: None)
    jobs = [writing.write(fail_half_way if number % 5 == 2 else insert) for number in range(20)]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [type(result) for result in results].count(KeyError) == 4
    assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 16
    await writing.close()
