"""Fees are computed from an endpoint's base fee and tip, or from its gas price if the endpoint suggests no tip."""

import pytest
from tests.support.fake_transports import FakeTransport

from holdfast.chain.errors import RpcError
from holdfast.chain.fees import Fees, fees_of_chain
from holdfast.chain.rpc import RpcClient

GWEI = 10**9
ANSWERS = {
    "eth_chainId": hex(84532),
    "eth_getBlockByNumber": {"number": "0x5", "baseFeePerGas": hex(3 * GWEI)},
    "eth_maxPriorityFeePerGas": hex(GWEI),
    "eth_gasPrice": hex(3 * GWEI + 80),
}


async def asked(**changes):
    answers = {**ANSWERS, **changes}
    transport = FakeTransport(lambda method, _params: answers[method])
    return await fees_of_chain(RpcClient("http://chain.invalid", transport), 84532)


async def test_twice_the_base_fee_and_a_tip_with_a_quarter_to_spare():
    assert await asked() == Fees(6 * GWEI + GWEI + GWEI // 4, GWEI + GWEI // 4)


async def test_an_endpoint_that_suggests_no_tip_is_asked_for_its_price():
    assert await asked(eth_maxPriorityFeePerGas=ValueError("method not found")) == Fees(6 * GWEI + 100, 100)


async def test_a_tip_is_never_nothing():
    assert (await asked(eth_maxPriorityFeePerGas="0x0")).max_priority_fee_per_gas == 1


async def test_another_chains_endpoint_is_refused():
    with pytest.raises(RpcError, match="of chain 1, not 84532"):
        await asked(eth_chainId="0x1")


@pytest.mark.parametrize("block", [None, {}, {"baseFeePerGas": 5}, "0x"])
async def test_a_block_without_a_base_fee_is_an_error(block):
    with pytest.raises(RpcError):
        await asked(eth_getBlockByNumber=block)
