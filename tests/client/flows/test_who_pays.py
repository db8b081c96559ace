"""Registration and payments without Holdfast's sponsor: the account itself or another paymaster pays for gas."""

from __future__ import annotations

import secrets
import threading
from unittest.mock import AsyncMock

import pytest
from tests.support.blocking import asynchronous
from tests.support.paymasters import Bundler, Paymaster, SponsoringBundler
from tests.support.payments import KEY, new_vault, payment, settled, someone
from tests.support.running_service import Awaited
from tests.support.soak import cases
from tests.support.software_authenticator import SoftwareAuthenticator

import holdfast
from holdfast.client import types
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.http.refusals import IdentifierTaken
from holdfast.client.passkeys import Authenticator, Person
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.keccak import alias_hash, did_hash

ETHER = 10**18
TWO_OPERATIONS = ["session", "commitment sent", "committed", "sent to the chain", "on the chain", "registered"]


@pytest.fixture(scope="module")
def bare(chain, tmp_path_factory):
    """A service whose bundler has no sponsor."""
    with Bundler(chain).served() as url:
        yield chain.another(tmp_path_factory.mktemp("bare") / "data", url)


@pytest.fixture
def vault(tmp_path):
    with VaultStore(directory=tmp_path) as store, new_vault(store) as made:
        yield made


@pytest.fixture
def client(bare, vault):
    with holdfast.Client(bare.base_url, vault=vault, timeout=60) as made:
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


def stopping_at(step):
    def told(reached):
        if reached == step:
            raise KeyboardInterrupt

    return told


def holder_of(chain, alias):
    return chain.read("DIDRegistry", "getAlias(bytes32)", alias_hash(alias))[:32]


def test_a_funded_account_commits_and_registers_by_itself(bare, client):
    account, name, steps = client.smart_account_address(), handle(), []
    bare.fund(account, ETHER)
    made = client.register(handle=name, on_progress=steps.append)
    assert steps == TWO_OPERATIONS
    assert holder_of(bare, name) == did_hash(made.did)
    assert settled(client, account).nonce == "2"
    assert 0 < ETHER - bare.coin_of(account) < ETHER // 100
    assert client.register(handle=name) == made


def test_an_address_claims_no_alias_and_needs_one_operation(bare, client, tmp_path_factory):
    account, email, steps = client.smart_account_address(), f"{secrets.token_hex(6)}@example.org", []
    bare.fund(account, ETHER)
    made = client.register(email=email, code=lambda _m: code_in(bare, email), on_progress=steps.append)
    assert steps == ["session", "code sent", "verified", "sent to the chain", "on the chain", "registered"]
    state = settled(client, account)
    assert (state.nonce, state.is_active, state.did) == ("1", True, "0x" + did_hash(made.did).hex())


def code_in(service, email):
    import re

    mails = sorted((service.data / "outbox").iterdir(), reverse=True)
    text = next(text for text in (mail.read_text() for mail in mails) if email in text)
    return re.search(r"\b(\d{6})\b", text.split("Subject:")[-1])[1]


def test_a_did_that_came_to_the_chain_for_a_taken_address_serves_for_another(bare, client, tmp_path_factory):
    taken, free = (f"{secrets.token_hex(6)}@example.org" for _ in range(2))
    with (
        VaultStore(directory=tmp_path_factory.mktemp("first")) as store,
        new_vault(store, "bob") as bob,
        holdfast.Client(bare.base_url, vault=bob, timeout=60) as first,
    ):
        bare.fund(first.smart_account_address(), ETHER)
        first.register(email=taken, code=lambda _m: code_in(bare, taken))
    account = client.smart_account_address()
    bare.fund(account, ETHER)
    with pytest.raises(IdentifierTaken):
        client.register(email=taken, code=lambda _m: code_in(bare, taken))
    made = client.register(email=free, code=lambda _m: code_in(bare, free))
    assert (made.identifier, made.smart_account) == (free, account)
    assert settled(client, account).nonce == "1"


def test_an_empty_account_is_told_what_it_needs_and_then_goes_on(bare, client):
    name, account = handle(), client.smart_account_address()
    with pytest.raises(holdfast.AccountNotFunded, match="send it there") as caught:
        client.register(handle=name)
    refused = caught.value
    assert (refused.address, refused.balance) == (account, 0)
    assert 0 < refused.needed < ETHER // 100
    assert account in str(refused)
    assert "the method does not exist" in str(refused)
    bare.fund(account, 3 * refused.needed)  # for two operations, of which the second costs more than the first
    assert client.register(handle=name).smart_account == account


# vectors/flows interrupts every step; here one interruption and one lost answer meet a real chain.
@pytest.mark.parametrize("step", cases({step: step for step in TWO_OPERATIONS}, "sent to the chain"))
def test_an_interruption_at_any_step_charges_nothing_twice(bare, client, step):
    account, name = client.smart_account_address(), handle()
    bare.fund(account, ETHER)
    with pytest.raises(KeyboardInterrupt):
        client.register(handle=name, on_progress=stopping_at(step))
    made = client.register(handle=name)
    assert holder_of(bare, name) == did_hash(made.did)
    assert settled(client, account).nonce == "2"


# Which operation's answer is lost, and whether the operation arrives.
LOST = {"1 arrives": (1, True), "2 arrives": (2, True), "1 is lost": (1, False), "2 is lost": (2, False)}


@pytest.mark.parametrize("which", cases(LOST, "2 arrives", "1 is lost"))
def test_a_send_whose_answer_is_lost_is_not_repeated(bare, client, monkeypatch, which):
    """An operation was sent, but its response was lost; or it was recorded, but never sent."""
    account, name, sends, real = client.smart_account_address(), handle(), [], SmartAccount.send
    lost, arrives = which
    bare.fund(account, ETHER)

    async def losing(self, operation):
        sends.append(operation)
        if len(sends) != lost:
            return await real(self, operation)
        if arrives:
            await real(self, operation)
        raise NetworkError("no answer (ReadTimeout)")

    monkeypatch.setattr(SmartAccount, "send", losing)
    with pytest.raises(NetworkError):
        client.register(handle=name)
    monkeypatch.setattr("holdfast.client.flows.chain_registration._RECEIPT_AGAIN_S", 3.0)
    made = client.register(handle=name)
    assert holder_of(bare, name) == did_hash(made.did)
    assert settled(client, account).nonce == "2"


def test_the_account_pays_for_its_payments_up_to_a_limit(bare, client, vault):
    account, payee = client.smart_account_address(), someone()
    bare.fund(account, ETHER)
    bare.give(account, 1_000)
    thrifty = holdfast.Client(bare.base_url, vault=vault, gas=holdfast.GasPolicy(max_own_cost_wei=1))
    with thrifty, pytest.raises(holdfast.GasTooDear, match="more than the account may pay"):
        thrifty.pay(payment(bare, payee, 1_000))
    assert bare.usdc_of(payee) == 0
    client.pay(payment(bare, payee, 1_000))
    assert bare.usdc_of(payee) == 1_000


def test_coin_that_is_sent_counts_as_well(bare, client):
    account, payee = client.smart_account_address(), someone()
    bare.fund(account, ETHER)
    everything = types.PaymentParams(to=payee, amount=str(ETHER), token="native", chain_id=84532)
    with pytest.raises(holdfast.AccountNotFunded) as caught:
        client.pay(everything)
    assert caught.value.needed > ETHER == caught.value.balance
    client.pay(types.PaymentParams(to=payee, amount=str(ETHER // 2), token="native", chain_id=84532))
    assert bare.coin_of(payee) == ETHER // 2


def test_an_operation_that_would_fail_says_why_and_costs_nothing(bare, client):
    account = client.smart_account_address()
    bare.fund(account, ETHER)
    bare.give(account, 7)
    with pytest.raises(holdfast.AccountNotFunded, match="ERC20InsufficientBalance") as caught:
        client.pay(payment(bare, someone(), 10**12))
    assert (caught.value.balance, caught.value.needed, caught.value.token) == (7, 10**12, bare.usdc)
    assert bare.coin_of(account) == ETHER


@pytest.mark.parametrize("sponsored", [True, False])
def test_an_empty_account_that_pays_is_told_what_it_lacks(chain, vault, sponsored):
    gas = holdfast.GasPolicy(sponsored=sponsored)
    with holdfast.Client(chain.base_url, vault=vault, timeout=60, gas=gas) as client:
        account = client.smart_account_address()
        with pytest.raises(holdfast.AccountNotFunded) as caught:
            client.pay(payment(chain, someone(), 5))
        assert (caught.value.balance, caught.value.needed, caught.value.token) == (0, 5, chain.usdc)
        with pytest.raises(holdfast.AccountNotFunded) as caught:
            client.pay(types.PaymentParams(to=someone(), amount="5", token="native", chain_id=84532))
        assert (caught.value.balance, caught.value.token) == (0, "native")
        assert caught.value.needed >= 5 and account in str(caught.value)


def test_nobody_is_asked_when_the_account_is_to_pay(chain, vault):
    with holdfast.Client(chain.base_url, vault=vault, timeout=60, gas=holdfast.GasPolicy(sponsored=False)) as client:
        account, payee = client.smart_account_address(), someone()
        chain.give(account, 5)
        with pytest.raises(holdfast.AccountNotFunded, match="no sponsor was asked"):
            client.pay(payment(chain, payee, 5))
        chain.fund(account, ETHER)
        client.pay(payment(chain, payee, 5))
        assert chain.usdc_of(payee) == 5
        assert chain.coin_of(account) < ETHER


def test_a_sponsor_that_posts_no_commitment_pays_for_both_operations(chain, vault, tmp_path_factory):
    with SponsoringBundler(chain).served() as url:
        hosted = chain.another(tmp_path_factory.mktemp("hosted") / "data", url)
        with holdfast.Client(hosted.base_url, vault=vault, timeout=60) as client:
            name, steps = handle(), []
            made = client.register(handle=name, on_progress=steps.append)
            assert steps == TWO_OPERATIONS
            assert holder_of(chain, name) == did_hash(made.did)
            assert chain.coin_of(made.smart_account) == 0


@pytest.mark.parametrize("kind", cases({"blocking": "blocking", "asyncio": "asyncio"}, "blocking"))
def test_a_paymaster_of_erc_7677_pays_for_everything(bare, tmp_path, kind):
    paymaster, name, steps = Paymaster(bare), handle(), []
    with paymaster.served() as url, VaultStore(directory=tmp_path) as store:
        gas = holdfast.GasPolicy(paymaster_url=url, context={"policy": "p"})
        client, ends = {"blocking": blocking_client, "asyncio": awaited_client}[kind](bare, store, gas)
        made = client.register(handle=name, on_progress=steps.append)
        bare.give(made.smart_account, 70)
        payee = someone()
        client.pay(payment(bare, payee, 70))
        for end in ends:
            end()
    assert steps == TWO_OPERATIONS
    assert holder_of(bare, name) == did_hash(made.did)
    assert (bare.usdc_of(payee), bare.coin_of(made.smart_account)) == (70, 0)
    assert paymaster.asked[:1] == ["pm_getPaymasterStubData"]
    assert paymaster.asked.count("pm_getPaymasterData") == 3


def blocking_client(service, store, gas):
    vault = new_vault(store)
    client = holdfast.Client(service.base_url, vault=vault, timeout=60, gas=gas)
    return client, (client.close, vault.close)


def awaited_client(service, store, gas):
    vault = Awaited(lambda: holdfast.AsyncVault(store))
    vault.boot()
    passkey = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada"))
    vault.generate(types.GenerateInput(credential=passkey.credential), KEY)
    client = Awaited(lambda: holdfast.AsyncClient(service.base_url, vault=vault._face, timeout=60, gas=gas))
    return client, (client.finish, vault.finish)


def test_what_a_paymaster_refuses_is_told_with_its_words(bare, vault):
    paymaster = Paymaster(bare)
    with paymaster.served() as url:
        gas = holdfast.GasPolicy(paymaster_url=url, context={"policy": "p"})
        with holdfast.Client(bare.base_url, vault=vault, timeout=60, gas=gas) as client:
            account = client.smart_account_address()
            bare.give(account, 5)
            paymaster.refuses = "spending limit reached"
            with pytest.raises(holdfast.AccountNotFunded, match="spending limit reached") as caught:
                client.pay(payment(bare, someone(), 5))
            assert account in str(caught.value)
            assert url not in str(caught.value)
            bare.fund(account, ETHER)
            client.pay(payment(bare, someone(), 5))  # the account's own balance comes next
        never = holdfast.GasPolicy(paymaster_url=url, context={"policy": "p"}, max_own_cost_wei=0)
        with holdfast.Client(bare.base_url, vault=vault, timeout=60, gas=never) as client:
            bare.give(account, 5)
            with pytest.raises(holdfast.OperationFailed, match="spending limit reached"):
                client.pay(payment(bare, someone(), 5))


def test_a_squatters_alias_is_told_apart_from_a_missing_commitment(bare, client, tmp_path_factory):
    """Without the service's check, the chain refuses the second claimant, who has not yet paid for a commitment."""
    name = handle()
    bare.fund(client.smart_account_address(), ETHER)
    client.register(handle=name)
    with (
        VaultStore(directory=tmp_path_factory.mktemp("second")) as store,
        new_vault(store, "bob") as bob,
        holdfast.Client(bare.base_url, vault=bob, timeout=60) as second,
    ):
        account = second.smart_account_address()
        bare.fund(account, ETHER)
        agreed = AsyncMock(return_value=None)  # skip the service's own check, which would refuse
        asynchronous(second).create_session = agreed
        with pytest.raises(holdfast.OperationFailed, match="AliasTaken"):
            second.register(handle=name)
    assert holder_of(bare, name) == did_hash(client.vault.query().did)
