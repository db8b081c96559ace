"""Registration and payments on a real local chain, by the client's public interface and by commands."""

import secrets
import time

import pytest
from tests.client.flows.devices import person
from tests.support.payments import payment, settled, someone
from tests.support.terminal import Terminal

from holdfast.cli.exits import Exit
from holdfast.client.flows.operations import OperationFailed
from holdfast.wire.encoding import from_hex
from holdfast.wire.retries import OPERATIONS

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


def test_the_commands_register_and_pay(chain, tmp_path):
    """A person creates a vault, registers, looks up the identity, delegates and pays."""
    terminal = Terminal(tmp_path / "vault", chain.base_url.replace("127.0.0.1", "localhost"), key="passkey")
    terminal.json("vault", "create", "--software")
    handle = "c" + secrets.token_hex(6)
    made = terminal.json("register", "--handle", handle)
    account = made["smart_account"]
    known = terminal.json("whoami")
    assert (known["registered"]["identifier"], known["smartAccount"]) == (handle, account)
    assert f"account {account}\n" in terminal.run("whoami").stdout
    chain.give(account, 1_000)
    time.sleep(OPERATIONS.state_age_s)
    assert [it["balance"] for it in terminal.json("balance")["balances"]] == ["0", "1000"]
    balance = "0.0 ETH and 0.001000 USDC on Base Sepolia (84532), test money without value"
    assert terminal.run("balance").stdout == f"account {account}\n{balance}\n"
    payee = someone()
    limits = ("--at-most", "600", "--payee", payee)
    token = terminal.json("vault", "delegate", made["did"], "/accounts/pay", *limits)["token"]
    words = ("--token", chain.usdc, "--ucan", token, "--yes")
    terminal.run("pay", payee, "601", *words, code=Exit.FAILED)
    paid = terminal.json("pay", payee, "600", *words)
    assert paid["chain"] == 84532
    assert paid["txHash"] == paid["userOpHash"] != paid["transactionHash"]
    assert chain.receipt(paid["transactionHash"]).succeeded
    assert chain.usdc_of(payee) == 600
    shown = terminal.run("pay", payee, "1", "--token", chain.usdc, "--yes").stdout.splitlines()
    assert [line.split(" ")[0] for line in shown[:2]] == ["paid:", "transaction:"]
    assert chain.receipt(shown[1].split(" ")[1]).succeeded
    assert chain.usdc_of(payee) == 601
    assert [note["amount"] for note in terminal.json("payments")["payments"]] == ["0.0006", "0.000001"]
