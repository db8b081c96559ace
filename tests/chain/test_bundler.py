"""Sending a user operation through a fake bundler, whose responses may change only some of the fields."""

import pytest
from tests.support.fake_transports import FakeTransport

from holdfast.chain.abi import call_data
from holdfast.chain.bundler import RAW, WEBAUTHN, Bundler
from holdfast.chain.entry_points import V07
from holdfast.chain.errors import RpcError, UserOperationError
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation

OPERATION = UserOperation(sender=b"\x01" * 20, nonce=3, call_data=b"\x02\x03", max_fee_per_gas=9)
LIMITS = {"callGasLimit": "0x10", "verificationGasLimit": "0x20", "preVerificationGas": "0x30"}
SPONSORED = LIMITS | {"paymaster": "0x" + "05" * 20, "paymasterData": "0x06"}
HASH = operation_hash(OPERATION, entry_point=V07.address, chain_id=1)


def bundler(answers):
    transport = FakeTransport(lambda method, params: answers[method])
    return Bundler(RpcClient("http://bundler.invalid", transport), entry_point=V07.address, chain_id=1), transport


async def test_an_estimate_sets_limits_with_a_margin_and_nothing_else():
    bold = LIMITS | {"callData": "0xdead", "paymaster": "0x" + "66" * 20, "maxFeePerGas": "0xffff", "nonce": "0x9"}
    estimated = await bundler({"eth_estimateUserOperationGas": bold})[0].estimated(OPERATION)
    assert (estimated.call_gas_limit, estimated.verification_gas_limit, estimated.pre_verification_gas) == (16, 32, 48)
    assert (estimated.call_data, estimated.paymaster, estimated.max_fee_per_gas) == (b"\x02\x03", None, 9)
    assert estimated.nonce == 3
    estimated = await bundler({"eth_estimateUserOperationGas": LIMITS})[0].estimated(OPERATION, WEBAUTHN)
    assert estimated.verification_gas_limit == 32 + 600_000


async def test_a_sponsor_is_told_margin_and_context_if_there_are_any_and_sets_its_own_fields():
    bold = SPONSORED | {"callData": "0xdead", "sender": "0x" + "66" * 20}
    asked, transport = bundler({"pm_sponsorUserOperation": bold})
    sponsored = await asked.sponsored(OPERATION, WEBAUTHN, {"policy": "p"})
    assert (sponsored.paymaster, sponsored.paymaster_data) == (b"\x05" * 20, b"\x06")
    assert (sponsored.sender, sponsored.call_data) == (OPERATION.sender, OPERATION.call_data)
    form, entry_point, context = transport.posts[0]["params"]
    assert len(form["signature"]) == 2 + 128
    assert entry_point == V07.address
    assert context == {"policy": "p", "verificationGasMargin": "0x927c0"}
    await asked.sponsored(OPERATION, RAW)
    assert len(transport.posts[1]["params"]) == 2


@pytest.mark.parametrize("answer", [None, [], "0x", {"callGasLimit": 5}, {"callGasLimit": "0x" + "f" * 40}])
async def test_a_malformed_estimate_is_an_error(answer):
    with pytest.raises(RpcError):
        await bundler({"eth_estimateUserOperationGas": answer})[0].estimated(OPERATION)


async def test_a_bundler_that_hashes_otherwise_is_an_error():
    good, _ = bundler({"eth_sendUserOperation": "0x" + HASH.hex()})
    assert await good.send(OPERATION) == HASH
    with pytest.raises(RpcError, match="differs from ours"):
        await bundler({"eth_sendUserOperation": "0x" + "00" * 32})[0].send(OPERATION)


async def test_a_refusal_tells_its_reason():
    reason = call_data("Error(string)", "not today").hex()
    with pytest.raises(UserOperationError, match="refused: reverted: not today") as caught:
        await bundler({"eth_sendUserOperation": ValueError(f"reverted with reason: 0x{reason}")})[0].send(OPERATION)
    assert caught.value.reason == "not today"


@pytest.mark.parametrize("name", ["revertData", "reason", "data"])
async def test_a_reason_wrapped_in_an_object_is_found(name):
    told = call_data("Error(string)", "not today").hex()

    class Refusing(FakeTransport):
        def _one(self, request):
            read = "execution reverted: custom error 0x08c379a0: \n\x07not today\0"  # as anvil does
            error = {"code": -32521, "message": read, "data": {name: "0x" + told, "other": 5}}
            return {"jsonrpc": "2.0", "id": request["id"], "error": error}

    rpc = RpcClient("http://bundler.invalid", Refusing(lambda _method, _params: None))
    with pytest.raises(UserOperationError) as caught:
        await Bundler(rpc, entry_point=V07.address, chain_id=1).send(OPERATION)
    assert (caught.value.reason, str(caught.value)) == ("not today", "refused: execution reverted: not today")


async def test_no_receipt_in_time_is_an_error():
    with pytest.raises(UserOperationError, match="no receipt"):
        await bundler({"eth_getUserOperationReceipt": None})[0].wait(HASH, within_s=0.1)
