"""Sending a user operation through a fake bundler; vectors/service/operation_answers.json has what sponsor and bundler answer."""

import pytest
from tests.support.fake_transports import FakeTransport
from tests.support.vector_files import vectors

from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler, merged
from holdfast.chain.entry_points import ENTRY_POINTS, V07
from holdfast.chain.errors import NoPaymaster, RpcError, UserOperationError
from holdfast.chain.gas import WEBAUTHN
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation
from holdfast.client.flows.failures import is_stale, lacks_money
from holdfast.wire.encoding import from_hex, to_hex

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


async def test_a_sponsored_call_may_use_more_than_was_estimated_while_others_were_queued():
    sponsored = merged(OPERATION, SPONSORED, SPONSORED)
    estimated = await bundler({"eth_estimateUserOperationGas": LIMITS})[0].estimated(sponsored)
    assert (estimated.call_gas_limit, estimated.verification_gas_limit) == (16 + 20_000, 32)
    most = LIMITS | {"callGasLimit": hex(2**128 - 1)}
    assert (await bundler({"eth_estimateUserOperationGas": most})[0].estimated(sponsored)).call_gas_limit == 2**128 - 1


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
    await asked.sponsored(OPERATION)
    assert len(transport.posts[1]["params"]) == 2


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


FILE = vectors("service/operation_answers")
SPONSOR, RECEIPTS = FILE["sponsor"], FILE["receipts"]
PLAIN = UserOperation(sender=bytes(20), nonce=1, call_data=b"")


def answering(usual, case):
    answer = usual | case["more"] if "more" in case else case["answer"]
    rpc = RpcClient("http://bundler.invalid", FakeTransport(lambda _method, _params: answer))
    return Bundler(rpc, entry_point=ENTRY_POINTS[0].address, chain_id=1)


@pytest.mark.parametrize("case", SPONSOR["cases"], ids=lambda case: case["name"])
async def test_a_sponsors_answer(case):
    asked = answering(SPONSOR["answer"], case).sponsored(PLAIN)
    if case["outcome"] == "sponsored":
        made = await asked
        assert (made.sender, made.nonce, made.call_data, made.call_gas_limit) == (bytes(20), 1, b"", 16)
        assert made.paymaster == from_hex(SPONSOR["answer"]["paymaster"])
        return
    with pytest.raises(RpcError) as raised:
        await asked
    assert isinstance(raised.value, NoPaymaster) == (case["outcome"] == "refused")


@pytest.mark.parametrize("case", RECEIPTS["cases"], ids=lambda case: case["name"])
async def test_a_receipt(case):
    about, asked = from_hex(RECEIPTS["answer"]["userOpHash"]), answering(RECEIPTS["answer"], case)
    match case["outcome"]:
        case "unusable":
            with pytest.raises(RpcError):
                await asked.receipt(about)
        case "failed":
            with pytest.raises(UserOperationError) as raised:
                await asked.wait(about, 5)
            assert case.get("reason") in {None, raised.value.reason}
        case "open":
            assert await asked.receipt(about) is None
        case _:
            mined = await asked.receipt(about)
            assert mined is not None
            assert (to_hex(mined.transaction_hash), mined.block_number) == ("0x" + "cc" * 32, 7)


@pytest.mark.parametrize("case", FILE["refusals"], ids=lambda case: case["message"])
def test_why_an_operation_was_refused(case):
    error = UserOperationError(case["message"])
    assert (is_stale(error), lacks_money(error)) == (case["stale"], case["no_money"])
