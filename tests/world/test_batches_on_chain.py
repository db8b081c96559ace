"""Concurrent calls are sent as one batch if the endpoint accepts batches; the chain does, the bundler does not."""

import asyncio

import pytest

from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.chain.rpc import RpcClient

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.parametrize("world", ["osaka"], indirect=True)]


class Counting:
    def __init__(self, transport):
        self.inner = transport
        self.posts = 0

    async def post(self, url, body):
        self.posts += 1
        return await self.inner.post(url, body)


async def test_the_chain_takes_a_batch(world):
    transport = Counting(world.transport)
    rpc = RpcClient(world.chain.rpc_url, transport)
    answers = await asyncio.gather(rpc.chain_id(), rpc.get_balance(world.accounts.tester.address), rpc.block_number())
    assert answers[0] == 84532
    assert transport.posts == 1


async def test_the_bundler_refuses_a_batch_and_is_asked_singly(world):
    transport = Counting(world.transport)
    rpc = RpcClient(world.bundler_url, transport)
    first, second = await asyncio.gather(rpc.call("eth_supportedEntryPoints"), rpc.chain_id())
    assert len(first) == len(ENTRY_POINTS)
    assert second == 84532
    assert transport.posts == 3
