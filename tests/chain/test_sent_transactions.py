"""What a command says of a transaction that it sent: an operator who sends it again pays twice."""

import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.fake_transports import FakeTransport

from holdfast.chain.errors import RpcError, TransportError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.sent_transactions import transact
from holdfast.wire.keccak import keccak256

ANSWERS = dict.fromkeys(("chainId", "estimateGas", "getTransactionCount", "maxPriorityFeePerGas"), "0x1")


@pytest.mark.parametrize(
    ("failing", "failure", "raised"),
    [
        ("eth_estimateGas", ValueError("it reverts"), RpcError),
        ("eth_sendRawTransaction", ValueError("too little"), RpcError),
        ("eth_sendRawTransaction", "0x" + "ee" * 32, TimeoutError),
        ("eth_sendRawTransaction", TransportError("connection lost"), TimeoutError),
        ("eth_getTransactionReceipt", ValueError("too many requests"), TimeoutError),
    ],
)
async def test_only_what_was_certainly_not_sent_is_an_error_after_which_it_may_be_sent_again(failing, failure, raised):
    def answer(method, params):
        if method == failing and isinstance(failure, TransportError):
            raise failure
        if method == failing:
            return failure
        if method == "eth_getBlockByNumber":
            return {"baseFeePerGas": "0x1"}
        if method == "eth_sendRawTransaction":
            return "0x" + keccak256(bytes.fromhex(params[0][2:])).hex()
        return ANSWERS[method.removeprefix("eth_")]

    rpc = RpcClient("http://chain.example", FakeTransport(answer), delays_s=())
    with pytest.raises(raised):
        await transact(rpc, PrivateKey(b"\x11" * 32), "0x" + "22" * 20, b"")
