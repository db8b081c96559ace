"""The index matches the contracts on a real chain after writes, reorganisations, rollbacks and `kill -9`.

A failing test prints its seed: `HOLDFAST_INDEXER_SEED=<seed>` repeats the run. `HOLDFAST_INDEXER_ANVIL_ROUNDS` sets the
number of rounds.
"""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support import anvil as anvils
from tests.support.availability import needs_chain
from tests.support.curves import GENERATOR
from tests.support.indexes import ask, catch_up, contents, whole_list
from tests.support.soak import amount

from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower, FollowOptions
from holdfast.indexer.reader import ChainMoved, RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.wire.keccak import checksum_address, keccak256

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("HOLDFAST_INDEXER_SEED", "20261121"))
ROUNDS = amount(25, 100, "HOLDFAST_INDEXER_ANVIL_ROUNDS")
OPTIONS = FollowOptions(chain_id=84532, behind_patience_s=0.0, near_blocks=8, journal_blocks=40)
FIRST_KEY = b"".join(each.to_bytes(32) for each in GENERATOR)

pytestmark = [needs_chain, pytest.mark.timeout(900)]


class Run:
    def __init__(self, anvil, path):
        self.anvil = anvil
        self.rng = anvil.rng
        self.path = path
        self.store = None
        self.happened = {}

    async def round(self):
        for _ in range(self.rng.randrange(1, 4)):
            await self._change_chain()
        if self.rng.random() < 0.15:
            await self._die()
        if self.rng.random() < 0.3:
            await self.close()
        if self.rng.random() < 0.7:
            await self._steps(self.rng.randrange(1, 5))
        if self.rng.random() < 0.4:
            await self._change_chain()
        await self._judge()

    async def _change_chain(self):
        kind = self.rng.choices(["write", "reorg", "rollback", "deep", "idle"], [8, 4, 3, 0.5, 1])[0]
        self.happened[kind] = self.happened.get(kind, 0) + 1
        # The reorganisation does not reach the blocks that deployed the contracts; another test covers a chain without
        # the contracts.
        depth_most = await self.anvil.height() - 6
        depth = min(self.rng.randrange(1, 7) if kind != "deep" else self.rng.randrange(30, 60), depth_most)
        if kind == "write" or depth < 1:
            await self.anvil.write(3)
        elif kind in {"reorg", "deep"}:
            await self.anvil.rpc.call("anvil_reorg", [depth, []])
        elif kind == "rollback":
            await self.anvil.rpc.call("anvil_rollback", [depth])
        else:
            await self.anvil.mine(self.rng.randrange(1, 20))

    async def _die(self):
        await self.close()
        arguments = [str(self.path), self.anvil.url, anvils.REGISTRY.hex(), anvils.FACTORY.hex()]
        moment = [str(self.rng.randrange(1, 4)), self.rng.choice(["before", "after"])]
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.crashing_child", *arguments, *moment, cwd=ROOT
        )
        code = await child.wait()
        assert code in {0, -signal.SIGKILL}
        self.happened["killed"] = self.happened.get("killed", 0) + (code != 0)

    async def _steps(self, steps):
        follower = await self._follower()
        for _ in range(steps):
            with suppress(ChainMoved):
                await follower.step()

    async def _follower(self):
        if self.store is None:
            self.store = SqliteIndexStore(self.path)
            await self.store.open("anvil")
        return self._follow(self.store)

    def _follow(self, store):
        return Follower(RangeReader(self.anvil.rpc, Decoder(anvils.REGISTRY, anvils.FACTORY)), store, OPTIONS)

    async def _judge(self):
        await catch_up(await self._follower())
        held = await contents(self.store)
        assert held == await self._afresh()
        await self._ask_the_registry(held)
        await self._ask_the_accounts(held)

    async def _afresh(self):
        path = self.path.with_name("afresh.db")
        store = SqliteIndexStore(path)
        try:
            await store.open("anvil")
            await catch_up(self._follow(store))
            return await contents(store)
        finally:
            await store.close()
            path.unlink()

    async def _ask_the_registry(self, held):
        dids = self.rng.sample(sorted(self.anvil.controllers), min(8, len(self.anvil.controllers)))
        aliases = self.rng.sample(self.anvil.aliases, min(8, len(self.anvil.aliases)))
        records = await asyncio.gather(*map(self.anvil.did, dids))
        for did, record in zip(dids, records, strict=True):
            shown = await ask(self.store, f"/api/dids/0x{did.hex()}")
            assert shown["found"] == (record is not None)
            if record is not None:
                assert shown["controller"] == checksum_address(record["controller"])
                assert (shown["active"], shown["metadata_cid"]) == (record["active"], record["cid"])
        records = await asyncio.gather(*map(self.anvil.alias, aliases))
        for alias, record in zip(aliases, records, strict=True):
            shown = await ask(self.store, f"/api/aliases/0x{alias.hex()}")
            assert shown["found"] == (record is not None)
            if record is not None:
                assert shown["controller"] == checksum_address(record["controller"])
                assert (shown["active"], shown["did_hash"]) == (record["active"], "0x" + record["did"].hex())

    async def _ask_the_accounts(self, held):
        accounts = self.rng.sample(self.anvil.accounts, min(8, len(self.anvil.accounts)))
        keys = await asyncio.gather(*map(self.anvil.key, accounts))
        for account, key in zip(accounts, keys, strict=True):
            if key is not None:
                owner = keccak256(key)[12:]
                found = await whole_list(self.store, "accounts", f"key_owner=0x{owner.hex()}")
                assert checksum_address(account) in [each["account_address"] for each in found]
                assert account.hex() in held["owners"][owner.hex()]
                self.happened["rotated"] = self.happened.get("rotated", 0) + (key != FIRST_KEY)

    async def close(self):
        if self.store is not None:
            await self.store.close()
            self.store = None


async def test_the_index_of_a_real_chain_always_equals_one_built_afresh(tmp_path):
    async with anvils.running(random.Random(SEED)) as anvil:
        run = Run(anvil, tmp_path / "index.db")
        try:
            for number in range(ROUNDS):
                try:
                    await run.round()
                except Exception as error:
                    raise AssertionError(f"HOLDFAST_INDEXER_SEED={SEED} failed in round {number}") from error
            assert len((await contents(run.store))["events"]) > ROUNDS // 4
            kinds = ("reorg", "rollback", "deep", "killed", "rotated")
            assert ROUNDS < 100 or min(run.happened[kind] for kind in kinds) > 0
        finally:
            await run.close()
