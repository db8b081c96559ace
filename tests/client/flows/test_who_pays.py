"""Registration and payments without Holdfast's sponsor on a real chain; vectors/flows/pay_gas.json has the cases."""

import secrets
import threading
from unittest.mock import AsyncMock, patch

import pytest
from tests.client.flows.devices import person
from tests.support.blocking import asynchronous
from tests.support.paymasters import Bundler, Paymaster
from tests.support.payments import payment, settled, someone

import holdfast
from holdfast.client.flows.operations import SmartAccount
from holdfast.wire.keccak import alias_hash, did_hash

ETHER = 10**18
TWO_OPERATIONS = ["session", "commitment sent", "committed", "sent to the chain", "on the chain", "registered"]


@pytest.fixture(scope="module")
def bare(chain, tmp_path_factory):
    """A service whose bundler has no sponsor."""
    with Bundler(chain).served() as url:
        yield chain.another(tmp_path_factory.mktemp("bare") / "data", url)


@pytest.fixture
def client(bare, tmp_path):
    with person(bare, tmp_path) as made:
        yield made


def handle():
    return "h" + secrets.token_hex(6)


@pytest.fixture(scope="module", autouse=True)
def blocks(chain):
    """Make the chain mine continuously, as real chains do, because a commitment counts from the next block on."""
    over = threading.Event()

    def mine():
        while not over.wait(0.5):
            chain.mine()

    thread = threading.Thread(target=mine)
    thread.start()
    yield
    over.set()
    thread.join()


def holder_of(chain, alias):
    return chain.read("DIDRegistry", "getAlias(bytes32)", alias_hash(alias))[:32]


def test_a_funded_account_commits_and_registers_by_itself(bare, client, tmp_path):
    """Another claimant, whom the service's check does not stop, is told that the alias is taken, and pays nothing."""
    account, name, steps = client.smart_account_address(), handle(), []
    bare.fund(account, ETHER)
    made = client.register(handle=name, on_progress=steps.append)
    assert steps == TWO_OPERATIONS
    assert holder_of(bare, name) == did_hash(made.did)
    assert settled(client, account).nonce == "2"
    assert 0 < ETHER - bare.coin_of(account) < ETHER // 100
    assert client.register(handle=name) == made
    with patch.object(SmartAccount, "next_block", side_effect=AssertionError("the commitment is valid already")):
        client.register_alias(f"{name}too")
    assert holder_of(bare, f"{name}too") == did_hash(made.did)
    with person(bare, tmp_path / "second") as second:
        bare.fund(second.smart_account_address(), ETHER)
        asynchronous(second).create_session = AsyncMock(return_value=None)
        with pytest.raises(holdfast.OperationFailed, match=f"{name} is taken on the chain"):
            second.register(handle=name)
        with pytest.raises(holdfast.OperationFailed, match=f"{name} is taken on the chain"):
            second.register_alias(name.upper())
        assert bare.coin_of(second.smart_account_address()) == ETHER
    assert holder_of(bare, name) == did_hash(made.did)


def test_a_paymaster_of_erc_7677_pays_for_everything_or_is_told_with_its_words(bare, tmp_path):
    paymaster, name, steps, payee = Paymaster(bare), handle(), [], someone()
    with paymaster.served() as url:
        gas = holdfast.GasPolicy(paymaster_url=url, context={"policy": "p"})
        with person(bare, tmp_path, gas) as client:
            account = client.register(handle=name, on_progress=steps.append).smart_account
            assert steps == TWO_OPERATIONS
            bare.give(account, 75)
            client.pay(payment(bare, payee, 70))
            assert (bare.usdc_of(payee), bare.coin_of(account)) == (70, 0)
            assert paymaster.asked[:1] == ["pm_getPaymasterStubData"]
            assert paymaster.asked.count("pm_getPaymasterData") == 3
            paymaster.refuses = "spending limit reached"
            with pytest.raises(holdfast.AccountNotFunded, match="spending limit reached") as caught:
                client.pay(payment(bare, payee, 5))
            assert account in str(caught.value)
            assert url not in str(caught.value)
            bare.fund(account, ETHER)
            client.pay(payment(bare, payee, 5))  # the account's own balance comes next
            assert bare.usdc_of(payee) == 75
