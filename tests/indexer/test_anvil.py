"""After writes, reorganisations and rollbacks of a real chain, the index equals a new one and what the contracts answer.

`HOLDFAST_INDEXER_SEED=<seed>` repeats a run; `HOLDFAST_INDEXER_ANVIL_ROUNDS` sets the number of rounds.
"""

import asyncio
import os
import random
from contextlib import asynccontextmanager, suppress

import pytest
from tests.support import anvil as anvils
from tests.support.availability import needs_chain
from tests.support.indexes import ask, catch_up, contents, whole_list
from tests.support.soak import amount

from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions
from holdfast.indexer.reader import ChainMoved, RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.wire.keccak import checksum_address, keccak256

SEED = int(os.environ.get("HOLDFAST_INDEXER_SEED", "20261121"))
ROUNDS = amount(12, 100, "HOLDFAST_INDEXER_ANVIL_ROUNDS")
OPTIONS = FollowOptions(chain_id=84532, behind_patience_s=0.0, near_blocks=8, journal_blocks=40)

pytestmark = [needs_chain, pytest.mark.timeout(900)]


@asynccontextmanager
async def store_at(path):
    store = SqliteIndexStore(path)
    await store.open("anvil")
    yield store
    await store.close()


def following(anvil, store):
    return Follower(RangeReader(anvil.rpc, Decoder(anvils.REGISTRY, anvils.FACTORY)), store, OPTIONS)


async def change(anvil, kind):
    depth = anvil.rng.randrange(30, 60) if kind == "deep" else anvil.rng.randrange(1, 7)
    depth = min(depth, await anvil.height() - 6)  # the blocks that deployed the contracts stay
    if kind == "write" or depth < 1:
        await anvil.write(3)
    elif kind == "rollback":
        await anvil.rpc.call("anvil_rollback", [depth])
    else:
        await anvil.rpc.call("anvil_reorg", [depth, []])


async def judge(anvil, store, afresh):
    await catch_up(following(anvil, store))
    held = await contents(store)
    async with store_at(afresh) as fresh:
        await catch_up(following(anvil, fresh))
        assert held == await contents(fresh)
    afresh.unlink()
    await ask_the_registry(anvil, store)
    await ask_the_accounts(anvil, store)


def some(rng, known):
    return rng.sample(known, min(8, len(known)))


async def ask_the_registry(anvil, store):
    for did in some(anvil.rng, sorted(anvil.controllers)):
        record, shown = await anvil.did(did), await ask(store, f"/api/dids/0x{did.hex()}")
        assert shown["found"] == (record is not None)
        if record is not None:
            assert shown["controller"] == checksum_address(record["controller"])
            assert (shown["active"], shown["metadata_cid"]) == (record["active"], record["cid"])
    for alias in some(anvil.rng, anvil.aliases):
        record, shown = await anvil.alias(alias), await ask(store, f"/api/aliases/0x{alias.hex()}")
        assert shown["found"] == (record is not None)
        if record is not None:
            assert shown["controller"] == checksum_address(record["controller"])
            assert (shown["active"], shown["did_hash"]) == (record["active"], "0x" + record["did"].hex())


async def ask_the_accounts(anvil, store):
    accounts = some(anvil.rng, anvil.accounts)
    for account, key in zip(accounts, await asyncio.gather(*map(anvil.key, accounts)), strict=True):
        if key is not None:
            found = await whole_list(store, "accounts", f"key_owner=0x{keccak256(key)[12:].hex()}")
            assert checksum_address(account) in [each["account_address"] for each in found]


async def test_the_index_of_a_real_chain_always_equals_one_built_afresh(tmp_path):
    async with anvils.running(random.Random(SEED)) as anvil, store_at(tmp_path / "index.db") as store:
        for number in range(ROUNDS):
            await change(anvil, "write")
            with suppress(ChainMoved):
                await following(anvil, store).step()
            await change(anvil, ("reorg", "deep", "rollback", "write")[number % 4])
            await judge(anvil, store, tmp_path / "afresh.db")
        assert len((await contents(store))["events"]) > ROUNDS // 4
