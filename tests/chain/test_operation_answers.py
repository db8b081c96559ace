"""What a sponsor and a bundler answer about an operation (vectors/service/operation_answers.json)."""

import pytest
from tests.support.fake_transports import FakeTransport
from tests.support.vector_files import vectors

from holdfast.chain.bundler import Bundler
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.chain.errors import NoPaymaster, RpcError, UserOperationError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation
from holdfast.client.flows.failures import is_stale, lacks_money
from holdfast.wire.encoding import from_hex, to_hex

FILE = vectors("service/operation_answers")
SPONSOR, RECEIPTS = FILE["sponsor"], FILE["receipts"]
OPERATION = UserOperation(sender=bytes(20), nonce=1, call_data=b"")


def bundler(usual, case):
    answer = usual | case["more"] if "more" in case else case["answer"]
    rpc = RpcClient("http://bundler.invalid", FakeTransport(lambda _method, _params: answer))
    return Bundler(rpc, entry_point=ENTRY_POINTS[0].address, chain_id=1)


@pytest.mark.parametrize("case", SPONSOR["cases"], ids=lambda case: case["name"])
async def test_a_sponsors_answer(case):
    asked = bundler(SPONSOR["answer"], case).sponsored(OPERATION)
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
    about, asked = from_hex(RECEIPTS["answer"]["userOpHash"]), bundler(RECEIPTS["answer"], case)
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
