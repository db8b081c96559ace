from dataclasses import replace

import pytest
from tests.support.api import Clock
from tests.support.indexes import OPTIONS, ask, by_key, catch_up, contents, expected, follower

from holdfast.chain.errors import RpcError, TransportError
from holdfast.indexer.follower import Step, WrongChain


async def test_an_endpoint_of_another_chain_touches_nothing_also_if_it_changes_later(store, busy_chain):
    await catch_up(follower(busy_chain, store))
    other = follower(busy_chain, store, replace(OPTIONS, chain_id=1))
    with pytest.raises(WrongChain):
        await other.step()
    mine = follower(busy_chain, store)
    await catch_up(mine)
    tip = await store.tip()
    busy_chain.reorg(60, 3)
    busy_chain.hook = lambda method, _params: "0x1" if method == "eth_chainId" else ...
    for _ in range(2):
        with pytest.raises(WrongChain):
            await mine.step()
    assert tip is not None and await store.tip() == tip


async def test_a_chain_that_only_ends_earlier_is_waited_for_and_then_followed_down(store, busy_chain):
    clock = Clock()
    mine = follower(busy_chain, store, replace(OPTIONS, behind_patience_s=30.0), clock=clock)
    await catch_up(mine)
    held, tip = await contents(store), await store.tip()
    gone = busy_chain.blocks[-4:]
    busy_chain.rollback(4)
    for _ in range(3):
        assert await mine.step() is Step.BEHIND
        clock.now += 9
    assert await store.tip() == tip
    busy_chain.blocks += gone
    assert await mine.step() is Step.CURRENT
    assert await contents(store) == held
    busy_chain.rollback(4)
    assert await mine.step() is Step.BEHIND
    clock.now += 31
    await catch_up(mine)
    assert by_key(await contents(store)) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1)
    busy_chain.reorg(10, 4)
    await catch_up(mine)
    assert by_key(await contents(store)) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1), "not waited for"


async def test_a_small_reorganisation_reads_little_again(store, busy_chain):
    mine = follower(busy_chain, store)
    await catch_up(mine)
    busy_chain.reorg(2, 3)
    busy_chain.calls.clear()
    await catch_up(mine)
    assert busy_chain.calls.count("eth_getLogs") <= 2 * 3  # the contracts' logs and the accounts', for three blocks


async def test_logs_that_a_lagging_node_leaves_out_are_not_missed(store, busy_chain):
    def lagging(method, params):
        """Logs come from a node that lacks the newest three blocks."""
        return busy_chain.answer(method, params, busy_chain.blocks[:-3]) if method == "eth_getLogs" else ...

    busy_chain.hook = lagging
    mine = follower(busy_chain, store)
    with pytest.raises(RpcError):
        await catch_up(mine)
    del busy_chain.hook
    await catch_up(mine)
    assert len((await contents(store))["events"]) == busy_chain.ledger.events


async def test_indexing_begins_at_the_start_block_and_before_it_the_index_is_current(store, busy_chain):
    mine = follower(busy_chain, store, replace(OPTIONS, start_block=1000))
    assert await mine.step() is Step.CURRENT
    assert mine.healthy()
    assert await store.tip() is None
    await catch_up(follower(busy_chain, store, replace(OPTIONS, start_block=30)))
    events = (await contents(store))["events"]
    assert events
    assert min(int(event["block_number"]) for event in events) >= 30


async def test_health_needs_a_recent_agreement_near_the_head(store, busy_chain):
    clock = Clock()
    mine = follower(busy_chain, store, replace(OPTIONS, near_blocks=4, lag_blocks=3, stale_s=60), clock=clock)
    assert not mine.healthy()
    await mine.step()
    assert not mine.healthy()
    await catch_up(mine)
    assert mine.healthy()
    clock.now += 61
    assert not mine.healthy()
    await mine.step()
    assert mine.healthy()


async def test_failures_back_off_and_one_success_ends_it(store, busy_chain):
    def down(_method, _params):
        raise TransportError("no answer")

    busy_chain.hook = down
    mine = follower(busy_chain, store, replace(OPTIONS, backoff_first_s=1, backoff_most_s=10))
    assert [await mine.pause_after_step() for _ in range(6)] == [1, 2, 4, 8, 10, 10]
    del busy_chain.hook
    assert await mine.pause_after_step() in {0.0, OPTIONS.poll_s}
    assert mine.health.failures == 0


async def test_a_fault_of_ours_is_logged_and_does_not_end_the_following(store, busy_chain, caplog):
    busy_chain.hook = lambda *_: 1 / 0
    mine = follower(busy_chain, store)
    assert await mine.pause_after_step() > 0
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("answer", [
    {"number": "0x1", "hash": "0x12", "parentHash": "0x" + "00" * 32},
    {"number": "0x999", "hash": "0x" + "00" * 32, "parentHash": "0x" + "00" * 32},
    {},
    [],
    "0x1",
])  # fmt: skip
async def test_malformed_blocks_and_logs_of_other_blocks_are_an_endpoints_failure(store, busy_chain, answer):
    strange = next(block.logs for block in busy_chain.blocks if block.logs)
    for hook in (
        lambda method, params: answer if params and params[0] != "latest" and "Block" in method else ...,
        lambda method, _: strange if method == "eth_getLogs" else ...,
    ):
        busy_chain.hook = hook
        with pytest.raises(RpcError):
            await catch_up(follower(busy_chain, store))


async def test_a_second_process_watches_and_takes_over(store, make_store, busy_chain):
    first, second = store, make_store()
    await second.open("test")
    leading, watching = follower(busy_chain, first), follower(busy_chain, second)
    await leading.pause_after_step()
    while not leading.healthy():
        await leading.pause_after_step()
    await watching.pause_after_step()
    assert watching.healthy()
    assert await ask(second, "/api/stats") == await ask(first, "/api/stats")
    await first.close()
    busy_chain.mine(3)
    while (await second.tip()).number < len(busy_chain.blocks) - 1:
        await watching.pause_after_step()
    await second.close()
