"""Writes about the same DID: upkeep does not wait for them, and they do not fail only because the database is slow."""

import asyncpg
from tests.support.snapshot_cases import taking
from tests.support.store_cases import NOW

from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.tries import Tries
from holdfast.service.store.snapshot_index import NewUpload

BUSY, FREE = "did:new:0x01", "did:new:0x02"


async def test_upkeep_passes_over_a_busy_did_and_returns(fresh_postgres_url):
    store = PostgresqlDatabase(fresh_postgres_url).open()
    index = store.snapshots
    for did in (BUSY, FREE):
        await index.begin_upload(NewUpload(upload_id="u", did=did, now=NOW - 900, expires_at=NOW - 1), taking(9))
    other = await asyncpg.connect(fresh_postgres_url)
    async with other.transaction():
        await other.execute("SELECT holdfast.snapshot_turn_v1($1)", shard_of(BUSY))
        assert await index.expire(NOW) == 1
        assert [(await index.usage(did)).reserved for did in (BUSY, FREE)] == [9, 0]
    assert await index.expire(NOW) == 1
    await other.close()
    await store.close()


async def test_a_write_is_tried_ten_times_however_long_each_takes():
    assert len([*Tries(within_s=0)]) == 10
