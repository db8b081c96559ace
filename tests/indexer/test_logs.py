"""Events about key changes are found by topic alone or, if an endpoint refuses this, by topic and account address."""

from dataclasses import replace

import aiohttp
import pytest
from tests.support.fake_chain import FACTORY, REGISTRY
from tests.support.indexes import OPTIONS, by_key, catch_up, contents, expected, follower
from tests.support.upstreams import rpc_results, upstream

from holdfast.chain.errors import AnswerTooLarge, RpcError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import AiohttpTransport
from holdfast.indexer.events import Decoder
from holdfast.indexer.follower import Follower
from holdfast.indexer.logs import LogReader, of_block
from holdfast.indexer.reader import RangeReader
from holdfast.indexer.rows import IndexedBlock
from holdfast.indexer.runtime import roomy_client


def strict(most, asked):
    """An endpoint that returns logs only for given addresses, and for no more than `most` of them at once."""

    def hook(method, params):
        if method == "eth_getLogs":
            addresses = params[0].get("address")
            if addresses is None:
                raise RpcError("please specify an address in your request", -32701)
            asked.append(len(addresses))
            if len(addresses) > most:
                raise RpcError("too many addresses", -32602)
        return ...

    return hook


@pytest.mark.parametrize("near", [4, 64], ids=["ranges", "near"])
async def test_an_endpoint_that_wants_addresses_gives_the_same_index(store, busy_chain, near, monkeypatch, caplog):
    caplog.set_level("INFO", "holdfast.indexer")
    monkeypatch.setattr("holdfast.indexer.logs.ADDRESSES_AT_ONCE", 7)
    busy_chain.hook = strict(7, asked := [])
    await catch_up(follower(busy_chain, store, replace(OPTIONS, near_blocks=near)))
    assert "".join(caplog.messages).count("no logs without addresses") == 1, "a refusal is told once"
    busy_chain.mine(9)
    await catch_up(follower(busy_chain, store, replace(OPTIONS, near_blocks=near)))
    held = await contents(store)
    assert by_key(held) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1)
    assert len(held["events"]) == busy_chain.ledger.events
    assert max(asked) == 7


async def test_an_endpoint_that_takes_the_topic_alone_is_asked_once_more_a_block(store, busy_chain):
    mine = follower(busy_chain, store)
    await catch_up(mine)
    busy_chain.mine(1)
    busy_chain.calls.clear()
    await catch_up(mine)
    assert busy_chain.calls.count("eth_getLogs") == 2


class Narrow:
    """An endpoint that counts calls, with a client that accepts at most `most` logs in a response."""

    def __init__(self, chain, most):
        self.chain, self.most, self.asked = chain, most, 0

    async def call(self, method, params):
        answer = await self.chain.call(method, params)
        if method == "eth_getLogs":
            self.asked += 1
            if len(answer) > self.most:
                raise AnswerTooLarge(self.most)
        return answer


@pytest.mark.parametrize("near", [4, 64], ids=["ranges", "near"])
async def test_a_block_with_too_many_events_for_one_answer_is_read_with_more_room(store, busy_chain, near):
    narrow, roomy = Narrow(busy_chain, most=2), Narrow(busy_chain, most=10_000)
    reader = RangeReader(narrow, Decoder(REGISTRY, FACTORY), roomy)
    await catch_up(Follower(reader, store, replace(OPTIONS, near_blocks=near)))
    held = await contents(store)
    assert by_key(held) == expected(busy_chain.ledger, len(busy_chain.blocks) - 1)
    assert len(held["events"]) == busy_chain.ledger.events
    assert 0 < roomy.asked < narrow.asked, "only for blocks that need it"


async def test_more_than_eight_mebibytes_of_logs_over_http():
    """The usual HTTP client refuses a response of this size, but the client for single blocks accepts it."""
    row = {
        "address": "0x" + REGISTRY.hex(), "topics": ["0x" + "77" * 32], "data": "0x" + "11" * 4_500_000,
        "blockNumber": "0x7", "blockHash": "0x" + "22" * 32, "transactionHash": "0x" + "33" * 32, "logIndex": "0x0",
        "removed": False,
    }  # fmt: skip
    place = of_block(IndexedBlock(7, b"\x22" * 32))
    async with upstream() as endpoint, aiohttp.ClientSession() as session:
        endpoint.answer = rpc_results({"eth_getLogs": [row]})
        usual = RpcClient(endpoint.url, AiohttpTransport(session))
        decoder = Decoder(REGISTRY, FACTORY)
        (found,) = await LogReader(usual, decoder, roomy_client(endpoint.url, session)).of_contracts(place)
        assert len(found.data) == 4_500_000
        with pytest.raises(AnswerTooLarge):
            await LogReader(usual, decoder).of_contracts(place)
