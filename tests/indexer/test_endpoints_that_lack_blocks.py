"""An endpoint may return null for a block at or below its own head, because a backend lags or has pruned old blocks.

The tests use a simulated clock and count the calls in a given span of time.
"""

import copy
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.support.api import Clock
from tests.support.indexes import OPTIONS, by_key, catch_up, contents, expected, follower

from holdfast.indexer.reader import ChainMoved

LIKE_OUTSIDE = replace(OPTIONS, poll_s=2.0, near_blocks=16, behind_patience_s=30.0)
TEN_MINUTES = 600.0


def lacking(blocks):
    """An endpoint that lacks some blocks at or below the head that it reports."""

    def hook(method, params):
        is_old = method == "eth_getBlockByNumber" and params[0] != "latest"
        return None if is_old and int(params[0], 16) in blocks else ...

    return hook


class Time(Clock):
    async def follow(self, mine, span_s):
        end = self.now + span_s
        while self.now < end:
            # For a step without a pause, the simulated clock advances by one millisecond.
            self.now += max(await mine.pause_after_step(), 0.001)


HEAD = 60
WAYS = {
    "the newest block": {HEAD},
    "blocks near the head": {HEAD - 3, HEAD - 2},
    "old blocks": set(range(50)),
    "all but the newest": set(range(HEAD)),
}


@pytest.mark.parametrize("way", WAYS)
async def test_missing_blocks_cost_few_calls_and_are_told_until_they_are_there(store, busy_chain, way, caplog):
    time, busy_chain.hook = Time(0.0), lacking(WAYS[way])
    mine = follower(busy_chain, store, LIKE_OUTSIDE, clock=time)
    await time.follow(mine, TEN_MINUTES)
    # The indexer pauses for up to 30 s between steps, each of which may request 16 blocks.
    assert len(busy_chain.calls) < 1000
    assert "the endpoint has no block" in caplog.text
    assert len(caplog.messages) < 10
    assert not mine.healthy()
    assert mine.progress().failures > 10
    del busy_chain.hook
    await time.follow(mine, 60)
    assert mine.healthy()
    assert mine.progress().failures == 0
    assert by_key(await contents(store)) == expected(busy_chain.ledger, HEAD)


async def test_history_that_is_dropped_takes_nothing_from_the_index(store, busy_chain):
    mine = follower(busy_chain, store, LIKE_OUTSIDE)
    await catch_up(mine)
    held, tip = await contents(store), await store.tip()
    busy_chain.mine(2)
    busy_chain.hook = lacking(range(HEAD + 1))
    for _ in range(3):
        with pytest.raises(ChainMoved, match=f"has no block {HEAD},"):
            await mine.step()
    assert (await contents(store), await store.tip()) == (held, tip)


async def test_nodes_that_contradict_each_other_do_not_make_it_go_to_and_fro_without_pause(store, busy_chain):
    """A load balancer alternates, every few calls, between two nodes that follow different chains."""
    other = copy.deepcopy(busy_chain)
    other.rng.seed(77)
    other.reorg(5, 5)
    calls, time = busy_chain.calls, Time(0.0)
    busy_chain.hook = lambda *asked: other.answer(*asked, other.blocks) if len(calls) // 40 % 2 else ...
    mine = follower(busy_chain, store, replace(LIKE_OUTSIDE, poll_s=30.0), clock=time)
    await time.follow(mine, TEN_MINUTES)
    assert len(calls) < 3000


async def test_a_long_catch_up_is_told(store, busy_chain, caplog, monkeypatch):
    caplog.set_level("INFO", "holdfast.indexer")
    time = Time(0.0)
    monkeypatch.setattr(
        "holdfast.indexer.follower.RangeSize", lambda: SimpleNamespace(value=5, granted=lambda *_: None)
    )
    mine = follower(busy_chain, store, replace(OPTIONS, near_blocks=2), clock=time)
    while mine.progress().behind != 0:
        time.now += 10.0
        await mine.step()
    lines = [line for line in caplog.messages if "indexer: at block" in line]
    assert 3 <= len(lines) <= 8
    assert f" of {HEAD}, 0 blocks/s, about " in lines[0]
    assert caplog.messages[-1] == f"indexer: caught up with the chain at block {HEAD}"
    assert mine.progress() == (HEAD, HEAD, 0, 0.0, 0)
