"""ERC-7677: what is sent to a paymaster, and which fields its responses may and may not change."""

import pytest
from tests.support.fake_transports import FakeTransport

from holdfast.chain.abi import call_data
from holdfast.chain.bundler import Bundler
from holdfast.chain.entry_points import V07
from holdfast.chain.errors import NoPaymaster, RpcError, UserOperationError
from holdfast.chain.paymaster import Paymaster
from holdfast.chain.reverts import ErrorAbi
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation

OPERATION = UserOperation(sender=b"\x01" * 20, nonce=3, call_data=b"\x02\x03", max_fee_per_gas=9)
LIMITS = {"callGasLimit": "0x10", "verificationGasLimit": "0x20", "preVerificationGas": "0x30"}
CALL_GAS = 0x10 + 20_000  # of a call that a paymaster pays
STUB = {"paymaster": "0x" + "05" * 20, "paymasterData": "0xaaaa", "paymasterPostOpGasLimit": "0x7"}
BY_NOBODY = {"paymaster": "0x" + "00" * 20, "paymasterData": "0xaa"}
SIGNED = {"paymaster": "0x" + "05" * 20, "paymasterData": "0xbbbb"}


class Asked:
    """A fake endpoint for a paymaster and a bundler, which records the requests that each received."""

    def __init__(self, **changes):
        self.answers = {
            "pm_getPaymasterStubData": STUB,
            "pm_getPaymasterData": SIGNED,
            "eth_estimateUserOperationGas": {**LIMITS, "paymasterVerificationGasLimit": "0x40"},
            **changes,
        }
        self.transport = FakeTransport(lambda method, _params: self.answers[method])
        self.rpc = RpcClient("http://paymaster.invalid", self.transport)

    async def paid(self, context=None):
        bundler = Bundler(self.rpc, entry_point=V07.address, chain_id=84532)
        errors = [ErrorAbi("NotCommitted", (("commitment", "bytes32"),))]
        paymaster = Paymaster(self.rpc, entry_point=V07.address, chain_id=84532, context=context, errors=errors)
        return await paymaster.paid(OPERATION, bundler)

    def methods(self):
        return [post["method"] for post in self.transport.posts]


async def test_stub_then_estimate_then_data():
    asked = Asked()
    paid = await asked.paid({"sponsorshipPolicyId": "sp_1"})
    assert asked.methods() == ["pm_getPaymasterStubData", "eth_estimateUserOperationGas", "pm_getPaymasterData"]
    assert (paid.paymaster, paid.paymaster_data) == (b"\x05" * 20, b"\xbb\xbb")
    assert (paid.paymaster_verification_gas_limit, paid.paymaster_post_op_gas_limit) == (0x40, 0x7)
    assert (paid.call_gas_limit, paid.verification_gas_limit, paid.max_fee_per_gas) == (CALL_GAS, 0x20, 9)
    for post in (asked.transport.posts[0], asked.transport.posts[2]):
        form, *rest = post["params"]
        assert rest == [V07.address, "0x14a34", {"sponsorshipPolicyId": "sp_1"}]
        # According to ERC-7677, the request includes neither a signature nor paymaster fields.
        assert not {"signature", "paymaster", "paymasterData", "paymasterPostOpGasLimit", "factory"} & set(form)
    assert asked.transport.posts[2]["params"][0]["callGasLimit"] == hex(CALL_GAS)


async def test_final_stub_data_is_not_asked_for_again():
    asked = Asked(pm_getPaymasterStubData={**STUB, "isFinal": True, "sponsor": {"name": "Somebody"}})
    assert (await asked.paid()).paymaster_data == b"\xaa\xaa"
    assert asked.methods() == ["pm_getPaymasterStubData", "eth_estimateUserOperationGas"]


async def test_the_paymasters_own_limits_stand():
    asked = Asked(pm_getPaymasterStubData={**STUB, "paymasterVerificationGasLimit": "0x99"})
    assert (await asked.paid()).paymaster_verification_gas_limit == 0x99


async def test_no_answer_changes_what_is_done():
    bold = {"callData": "0xdead", "sender": "0x" + "66" * 20, "callGasLimit": "0xffff", "maxFeePerGas": "0xffff"}
    paid = await Asked(pm_getPaymasterStubData={**STUB, **bold}, pm_getPaymasterData={**SIGNED, **bold}).paid()
    assert (paid.sender, paid.call_data) == (OPERATION.sender, OPERATION.call_data)
    assert (paid.call_gas_limit, paid.max_fee_per_gas) == (CALL_GAS, 9)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        *((nobody, NoPaymaster) for nobody in ({}, {"paymaster": None}, BY_NOBODY)),
        *((malformed, RpcError) for malformed in (None, [], "0x", {"paymaster": "0x05"}, {"paymasterData": "0xaa"})),
    ],
)
async def test_an_answer_without_a_paymaster_or_of_another_form_pays_nothing(answer, error):
    with pytest.raises(error):
        await Asked(pm_getPaymasterStubData=answer).paid()


async def test_a_refusal_tells_the_paymasters_words_and_a_revert_that_it_met():
    with pytest.raises(UserOperationError, match="policy exhausted"):
        await Asked(pm_getPaymasterStubData=ValueError("policy exhausted")).paid()
    reason = call_data("NotCommitted(bytes32)", b"\x07" * 32).hex()
    with pytest.raises(UserOperationError) as caught:
        await Asked(pm_getPaymasterStubData=ValueError(f"execution reverted: 0x{reason}")).paid()
    assert caught.value.reason == f"NotCommitted(commitment=0x{'07' * 32})"
