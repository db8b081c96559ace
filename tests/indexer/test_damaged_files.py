"""The indexer rebuilds a damaged index file without manual intervention."""

import asyncio
import sqlite3
from contextlib import closing

from tests.support.indexes import by_key, catch_up, contents, expected, follower

from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.store import StoreError

GARBAGE = b"this is not a database, whatever its name says\n" * 200


async def opened(path):
    """Open the store as the running indexer does, which retries after a failed attempt."""
    store = SqliteIndexStore(path)
    for _ in range(3):
        try:
            await store.open("test")
        except StoreError:
            continue
        return store
    raise AssertionError("it does not open")


async def test_garbage_is_put_aside_and_the_index_built_again(tmp_path, busy_chain, caplog):
    path = tmp_path / "index.db"
    path.write_bytes(GARBAGE)
    path.with_name("index.db-leader").write_bytes(GARBAGE)
    store = await opened(path)
    assert await store.lead()
    await catch_up(follower(busy_chain, store))
    assert by_key(await contents(store)) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1)
    await store.close()
    assert (tmp_path / "index.db.damaged").read_bytes() == GARBAGE
    assert "index.db.damaged, and is built again from the chain" in caplog.text


async def test_damage_while_it_runs_is_mended(tmp_path, busy_chain):
    path = tmp_path / "index.db"
    store = await opened(path)
    mine = follower(busy_chain, store)
    assert await store.lead()
    await catch_up(mine)
    before = await contents(store)
    spoil(path)
    async with asyncio.timeout(60):
        while True:
            await mine.pause_after_step()
            if mine.progress().behind == 0 and await holds(store, before):
                break
    await store.close()


def spoil(path):
    """Write the write-ahead log into the database file, then damage every page except the first."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


async def holds(store, wanted):
    try:
        return await contents(store) == wanted
    except StoreError:
        return False


async def test_who_only_watches_leaves_the_file_and_finds_the_new_one(tmp_path, busy_chain):
    path = tmp_path / "index.db"
    first, second = await opened(path), await opened(path)
    assert await first.lead()
    leading, watching = follower(busy_chain, first), follower(busy_chain, second)
    await catch_up(leading)
    held = await contents(first)
    path.rename(tmp_path / "gone")
    for ending in ("-wal", "-shm"):
        path.with_name(f"index.db{ending}").unlink(missing_ok=True)
    await catch_up(leading)
    await watching.watch()
    assert await contents(first) == await contents(second) == held
    busy_chain.mine(4)
    await catch_up(leading)
    await watching.watch()
    assert watching.healthy()
    assert await contents(second) == await contents(first) != held
    await first.close()
    await second.close()
