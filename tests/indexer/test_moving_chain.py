"""The chain is reorganised right before the n-th call of a catch-up, for every n: results must never mix two chains."""

import itertools
import random
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.support.fake_chain import FACTORY, REGISTRY, FakeChain
from tests.support.indexes import OPTIONS, by_key, catch_up, contents, expected, follower
from tests.support.soak import cases

from holdfast.chain.errors import RpcError
from holdfast.indexer.events import Decoder
from holdfast.indexer.reader import ChainMoved, RangeReader
from holdfast.indexer.sqlite_store import SqliteIndexStore

NEAR, RANGES = replace(OPTIONS, near_blocks=64), replace(OPTIONS, near_blocks=2)


async def no_accounts():
    return []


class Careless(FakeChain):
    """Returns no logs, instead of an error, for a block that it does not know (EIP-234 requires an error)."""

    def answer(self, method, params, blocks):
        try:
            return super().answer(method, params, blocks)
        except RpcError:
            return []


async def patiently(moving):
    """Step until the index is current, retrying after an endpoint error such as a block that no longer exists."""
    for _ in range(3):
        with suppress(RpcError):
            return await catch_up(moving)
    raise AssertionError("it does not get over it")


# How many blocks are gone, and how many are new.
MOVES = ((1, 1), (3, 3), (3, 5), (4, 0), (6, 2), (11, 11), (11, 12))


@pytest.mark.parametrize("chains", [FakeChain, Careless])
@pytest.mark.parametrize(
    "moved",
    cases({f"{depth} to {new}": (depth, new) for depth, new in MOVES}, "1 to 1", "3 to 5", "4 to 0", "11 to 12"),
)
@pytest.mark.parametrize("options", [NEAR, RANGES], ids=["near", "ranges"])
async def test_a_reorganisation_before_any_call(tmp_path, options, moved, chains):
    depth, new = moved
    store = SqliteIndexStore(tmp_path / "index.db")
    await store.open("test")
    for moment in itertools.count():
        await store.reset()
        if not await moves(chains(random.Random(100 * moment + depth)), store, options, (moment, depth, new)):
            break
    await store.close()
    assert moment > 8


async def moves(chain, store, options, move):
    """Assert that the index is right, and return whether the chain changed before the follower had finished."""
    for _ in range(9):
        chain.mine(chain.rng.randrange(3))
    await catch_up(follower(chain, store, options))
    for _ in range(5):
        chain.mine(chain.rng.randrange(3))
    moment, depth, new = move
    chain.calls.clear()

    def hook(*_):
        if len(chain.calls) == moment + 1:
            chain.reorg(depth, new)
        return ...

    chain.hook = hook
    moving = follower(chain, store, options)
    await patiently(moving)
    moved = len(chain.calls) > moment
    await catch_up(moving)
    assert by_key(await contents(store)) == expected(chain.ledger, len(chain.blocks) - 1), f"before call {moment}"
    assert len((await contents(store))["events"]) == chain.ledger.events
    return moved


async def test_logs_that_contradict_a_hash_are_read_again(chain):
    chain.mine(1)
    old = chain.blocks[1].logs
    chain.rollback(1)
    chain.mine(1)

    chain.hook = lambda method, _params: old if method == "eth_getLogs" else ...
    with pytest.raises(ChainMoved):
        await RangeReader(chain, Decoder(REGISTRY, FACTORY)).read_range(0, 1, 1, None, no_accounts)
