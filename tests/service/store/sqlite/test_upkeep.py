"""Expired rows are removed in parts, so that other writes never wait for all of them."""

import asyncio

from tests.support.store_cases import NOW, sends

from holdfast.service.store.sqlite import snapshot_waste, upkeep
from holdfast.service.store.sqlite.database import SqliteDatabase
from holdfast.settings.shared import default_url


def counted(monkeypatch, room, parts):
    """Note how many rows each transaction of the upkeep removes."""
    expire = room.expire

    def noting(*arguments):
        parts.append(expire(*arguments))
        return parts[-1]

    monkeypatch.setattr(room, "expire", noting)


async def test_a_write_waits_for_one_part_only(tmp_path, monkeypatch):
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
    await store.close()


async def test_snapshots_are_swept_in_parts_too(tmp_path, monkeypatch):
    store = SqliteDatabase(default_url(tmp_path)).open()
    monkeypatch.setattr(upkeep, "AT_ONCE", 10)
    parts = []
    counted(monkeypatch, snapshot_waste, parts)
    for n in range(25):
        await store.snapshots.revoke("did:a:1", f"cid{n}", NOW, NOW + 60)
    assert await store.snapshots.expire(NOW + 2 * 86400) == 25
    assert parts == [10, 10, 5]
    await store.close()
