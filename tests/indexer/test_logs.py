"""Key changes are read by their topic alone; where an endpoint refuses that, by the addresses of the accounts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.indexes import OPTIONS, by_key, catch_up, contents, expected, follower

from holdfast.chain.errors import RpcError

if TYPE_CHECKING:
    from tests.support.fake_chain import FakeChain

    from holdfast.indexer.store import IndexStore


class Strict:
    """An endpoint that gives logs of named addresses only, and of no more than `most` of them at once."""

    def __init__(self, chain: FakeChain, most: int = 500) -> None:
        self.chain = chain
        self.most = most
        self.asked: list[int] = []

    async def call(self, method: str, params: list[Any]) -> Any:
        if method == "eth_getLogs":
            addresses = params[0].get("address")
            if addresses is None:
                raise RpcError("please specify an address in your request", -32701)
            self.asked.append(len(addresses))
            if len(addresses) > self.most:
                raise RpcError("too many addresses", -32602)
        return await self.chain.call(method, params)


@pytest.mark.parametrize("near", [4, 64], ids=["ranges", "near"])
async def test_an_endpoint_that_wants_addresses_gives_the_same_index(
    store: IndexStore, busy_chain: FakeChain, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.indexer.logs._ADDRESSES_AT_ONCE", 7)
    endpoint = Strict(busy_chain, most=7)
    await catch_up(follower(endpoint, store, replace(OPTIONS, near_blocks=near)))
    busy_chain.mine(9)
    await catch_up(follower(endpoint, store, replace(OPTIONS, near_blocks=near)))
    held = await contents(store)
    assert by_key(held) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1)
    assert len(held["events"]) == busy_chain.ledger.events
    assert max(endpoint.asked) == 7


async def test_an_endpoint_that_takes_the_topic_alone_is_asked_once_more_a_block(
    store: IndexStore, busy_chain: FakeChain
) -> None:
    mine = follower(busy_chain, store)
    await catch_up(mine)
    busy_chain.mine(1)
    busy_chain.calls.clear()
    await catch_up(mine)
    assert busy_chain.calls.count("eth_getLogs") == 2


async def test_a_refusal_is_told_once(
    store: IndexStore, busy_chain: FakeChain, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "holdfast.indexer")
    await catch_up(follower(Strict(busy_chain), store))
    told = [record for record in caplog.messages if "no logs without addresses" in record]
    assert len(told) == 1
