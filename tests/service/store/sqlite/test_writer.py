"""When a group commit waits for more writes, and what becomes of requests while the disk stalls."""

import asyncio
import contextlib
import threading
from itertools import count

import pytest
from tests.support.serving import PATIENCE_S
from tests.support.store_cases import admit, handle, session

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import schema, writer
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.service.store.sqlite.writer import PACE_S, GroupCommitWriter


@pytest.fixture
def connection(tmp_path):
    with contextlib.closing(schema.connect(tmp_path / "x.db")) as opened:
        yield opened


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


async def test_a_read_after_a_write_writes_nothing(tmp_path):
    """A write to the mapped index of the log would wait for a stalled disk, and the whole process with it."""
    store = SqliteStore(tmp_path / "x.db")
    index = tmp_path / "x.db-shm"
    for number in range(3):
        await store.open_session(session(handle(f"name{number}")), admit)
        before = index.read_bytes()
        assert await store.is_claimed("handle", f"name{number}")
        await asyncio.sleep(0)
        assert index.read_bytes() == before
    await store.close()
