"""Registration and payments on a real local chain, by the client's public interface."""

import secrets

import pytest
from tests.client.flows.devices import person
from tests.support.payments import payment, settled, someone

from holdfast.client.flows.operations import OperationFailed
from holdfast.wire.encoding import from_hex

UNKNOWN = "0x" + "11" * 32


@pytest.fixture
def client(chain, tmp_path):
    with person(chain, tmp_path) as made:
        yield made


def test_a_handle_is_registered_and_its_account_pays(client, chain):
    handle, payee, steps = "h" + secrets.token_hex(6), someone(), []
    made = client.register(handle=handle, on_progress=steps.append)
    assert steps == ["session", "sent to the chain", "on the chain", "registered"]
    assert made.did == client.vault.status().did == client.check_alias(handle).did
    assert client.register(handle=handle) == made == client.register(handle="another")
    account, steps = made.smart_account, []
    assert settled(client, account).is_active
    chain.give(account, 5_000_000)
    result = client.pay(payment(chain, payee, 1_500_000, label="lunch"), on_progress=steps.append)
    assert chain.usdc_of(payee) == 1_500_000
    assert steps == ["prepared", "signed", "sent", "confirmed"]
    sent = result.user_op_hash
    explorer = f"https://base-sepolia.blockscout.com/op/{sent}"
    shown = {"txHash": sent, "userOpHash": sent, "chain": 84532, "token": chain.usdc, "explorerUrl": explorer}
    assert result.to_json() == shown
    (noted,) = client.payments()
    assert (noted.hash, noted.state, noted.label) == (sent, "confirmed", "lunch")
    assert (noted.to, noted.address, noted.amount, noted.symbol) == (payee, payee, "1.5", "USDC")
    receipt = client.user_operation_receipt(sent)
    mined = chain.receipt(receipt.transaction_hash)
    assert (mined.block_number, mined.succeeded) == (receipt.block_number, True)
    assert from_hex(sent) in {topic for log in mined.logs for topic in log.topics}
    assert (receipt.success, receipt.reason) == (True, None)
    assert client.user_operation_receipt(UNKNOWN) is client.user_operation_receipt(UNKNOWN, within_s=0.2) is None
    with pytest.raises(ValueError, match="64 hexadecimal"):
        client.user_operation_receipt("0x11")
    with pytest.raises(OperationFailed):
        client.pay(payment(chain, someone(), 10**12))
    assert client.payments() == [noted], "nothing was signed"
