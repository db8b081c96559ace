"""After random writes, reorganisations, crashes and endpoint failures, the index equals a newly built one.

A failing test prints its seed: `HOLDFAST_INDEXER_SEED=<seed>` repeats only this run. `HOLDFAST_INDEXER_ROUNDS` sets the
number of rounds.
"""

import os
import random
from dataclasses import replace

import pytest
from tests.support.crashing_store import CrashingStore
from tests.support.fake_chain import ChaosRpc, FakeChain
from tests.support.indexes import OPTIONS, by_key, catch_up, contents, expected, follower
from tests.support.soak import amount

from holdfast.chain.errors import RpcError
from holdfast.indexer.reader import ChainMoved
from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.indexer.store import StoreError

GIVEN = os.environ.get("HOLDFAST_INDEXER_SEED")
SEEDS = [int(GIVEN)] if GIVEN else list(range(1, amount(2, 9)))
ROUNDS = int(os.environ.get("HOLDFAST_INDEXER_ROUNDS", "40"))


class Crash(BaseException):
    """Simulates the end of the process: no code between the crash and the test handles this exception."""


def crash():
    raise Crash


class Simulation:
    """The simulation for one seed. `make` opens the database; `dying` does too, but its n-th commit is its last."""

    def __init__(self, seed, folder, make, dying):
        self.rng = random.Random(seed)
        self.folder = folder
        self.make, self.dying = make, dying
        self.chain = FakeChain(self.rng)
        self.rpc = ChaosRpc(self.chain)
        self.options = replace(
            OPTIONS, journal_blocks=self.rng.randrange(1, 30), near_blocks=self.rng.randrange(6, 16), start_block=0
        )

    async def round(self):
        self.rpc.largest_range = self.rng.choice([3, 10, 10**9])
        self.rpc.wants_addresses = self.rng.random() < 0.3
        for _ in range(self.rng.randrange(1, 5)):
            self._change_chain()
        await self._follow_for_a_while()
        if self.rng.random() < 0.5:
            self._change_chain()
        await self._judge()

    def _change_chain(self):
        chain, rng = self.chain, self.rng
        kind = rng.choices(["mine", "burst", "reorg", "rollback", "deep", "replace"], [8, 2, 5, 3, 1, 0.3])[0]
        if kind == "mine":
            chain.mine(rng.randrange(5))
        elif kind == "burst":
            for _ in range(rng.randrange(1, 40)):
                chain.mine(rng.choice([0, 0, 0, 2]))
        elif kind == "reorg":
            chain.reorg(depth := rng.randrange(1, 10), rng.choice([depth, depth + 1, rng.randrange(12)]))
        elif kind == "rollback":
            chain.rollback(rng.randrange(1, 10))
        elif kind == "deep":
            chain.reorg(rng.randrange(10, 60), rng.randrange(60))
        else:
            chain.replace()

    async def _follow_for_a_while(self):
        """Run some steps in successive simulated processes, each of which exits normally or crashes during a commit."""
        for _ in range(self.rng.randrange(3)):
            store = self.dying(self.rng.randrange(1, 8), self.rng.random() < 0.3)
            try:
                await store.open("simulation")
                await self._steps(store)
            except Crash:
                pass
            finally:
                await store.close()

    async def _steps(self, store):
        mine = follower(self.rpc, store, self.options)
        for _ in range(self.rng.randrange(1, 12)):
            try:
                await mine.step()
            except (RpcError, StoreError, ChainMoved):
                continue

    async def _judge(self):
        self.rpc.calm = True
        held = await self._held(self.make())
        fresh = await self._held(SqliteIndexStore(self.folder / "afresh.db"))
        (self.folder / "afresh.db").unlink()
        self.rpc.calm = False
        assert held == fresh
        assert by_key(held) == expected(self.chain.ledger, len(self.chain.blocks) - 1)
        assert len(held["events"]) == self.chain.ledger.events

    async def _held(self, store):
        try:
            await store.open("simulation")
            await catch_up(follower(self.rpc, store, self.options))
            return await contents(store)
        finally:
            await store.close()


async def play(simulation, seed, rounds):
    for number in range(rounds):
        try:
            await simulation.round()
        except AssertionError as error:
            raise AssertionError(f"HOLDFAST_INDEXER_SEED={seed} failed in round {number}") from error


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_index_always_equals_one_built_afresh(seed, tmp_path):
    path = tmp_path / "index.db"
    dying = lambda left, after: CrashingStore(path, left, after=after, crash=crash)  # noqa: E731
    simulation = Simulation(seed, tmp_path, lambda: SqliteIndexStore(path), dying)
    await play(simulation, seed, ROUNDS)
