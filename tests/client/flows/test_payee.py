"""A payment to a DID is sent only if the chain confirms the account that the indexer returns."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.support.account_world import CONTRACTS
from tests.support.fake_transports import FakeTransport
from tests.support.running_service import Coroutines

from holdfast.chain.contracts import predict_account
from holdfast.chain.rpc import RpcClient
from holdfast.client.blocking.loop import run
from holdfast.client.flows.failures import PaymentRefused
from holdfast.client.flows.payee import Payee, check_elsewhere, payee_of
from holdfast.client.types.service import AccountState, IndexerAccount, IndexerDid
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import checksum_address, did_hash
from holdfast.world.software_key import SoftwareKey

KEY, OTHER = SoftwareKey.generate(), SoftwareKey.generate()
ACCOUNT, THIEF = predict_account(KEY.x, KEY.y), checksum_address(b"\xbb" * 20)
SALTED = predict_account(KEY.x, KEY.y, 7)
WEB = "did:web:example.org"


class World:
    """A fake indexer, and the chain's state for each account."""

    def __init__(self, did, controller=ACCOUNT, active=True):
        self.named = IndexerDid(found=True, controller=controller, active=active)
        self.states = {ACCOUNT: state(did, KEY)}
        self.created = {}
        self.contracts = CONTRACTS

    def indexer_did(self, _did_hash):
        return self.named

    def get_account_state(self, address):
        return self.states.get(
            address, AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")
        )

    def indexer_account(self, address):
        known = address in self.created
        return IndexerAccount(found=known, block_number="5" if known else None)

    def chain(self):
        return RpcClient("https://chain.invalid", FakeTransport(self.logs))

    def logs(self, method, params):
        (asked,) = params
        assert (method, asked["address"], asked["fromBlock"], asked["toBlock"]) == (
            "eth_getLogs", CONTRACTS.app_factory, "0x5", "0x5",
        )  # fmt: skip
        key, salt = self.created[checksum_address(from_hex(asked["topics"][1])[12:])]
        words = b"".join(number.to_bytes(32) for number in (key.x, key.y, salt))
        place = {"blockNumber": "0x5", "blockHash": "0x" + "0b" * 32, "transactionHash": "0x" + "0a" * 32}
        return [
            {"address": asked["address"], "topics": asked["topics"], "data": to_hex(words), "logIndex": "0x0", **place}
        ]

    def payee(self, to):
        account = SimpleNamespace(contracts=CONTRACTS, chain=Coroutines(self).chain)
        return run(payee_of(Coroutines(self), to, account))


def state(did, key, active=True):
    hashed = to_hex(did_hash(did))
    return AccountState(nonce="1", did=hashed, is_active=active, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


def test_the_account_of_the_key_that_the_did_is_of():
    payee = World(KEY.did).payee(KEY.did)
    assert (payee.address, payee.did) == (ACCOUNT, KEY.did)


def test_an_address_is_taken_as_it_stands():
    assert World(KEY.did).payee(THIEF.lower()).address == THIEF


def test_an_account_that_holds_the_did_with_a_strangers_key_is_not_paid():
    """Earlier registries let a stranger's account register another person's did:new."""
    world = World(KEY.did, controller=THIEF)
    world.states[THIEF] = state(KEY.did, OTHER)
    with pytest.raises(PaymentRefused, match="does not follow from the key"):
        world.payee(KEY.did)
    world.created[THIEF] = (OTHER, 0)
    with pytest.raises(PaymentRefused, match="does not follow from the key"):
        world.payee(KEY.did)


def test_an_address_that_does_not_follow_from_the_key_is_not_paid():
    """An endpoint and an indexer that lie together can name the person's key for any address."""
    world = World(KEY.did, controller=THIEF)
    world.states[THIEF] = state(KEY.did, KEY)
    with pytest.raises(PaymentRefused, match="does not follow from the key"):
        world.payee(KEY.did)
    world.created[THIEF] = (KEY, 0)
    with pytest.raises(PaymentRefused, match="does not follow from the key"):
        world.payee(KEY.did)


def test_after_a_change_of_keys_the_first_key_counts():
    world = World(KEY.did)
    world.states[ACCOUNT] = state(KEY.did, OTHER)
    with pytest.raises(PaymentRefused):
        world.payee(KEY.did)
    world.created[ACCOUNT] = (KEY, 0)
    assert world.payee(KEY.did).address == ACCOUNT


def test_a_key_s_account_of_another_salt_is_paid_once_the_factory_names_the_salt():
    world = World(KEY.did, controller=SALTED)
    world.states[SALTED] = state(KEY.did, KEY)
    with pytest.raises(PaymentRefused):
        world.payee(KEY.did)
    world.created[SALTED] = (KEY, 7)
    assert world.payee(KEY.did).address == SALTED


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr("holdfast.client.flows.payee.STATE_AGE_S", 0)


def test_inactive_on_the_chain_is_not_paid(soon):
    world = World(KEY.did)
    world.states[ACCOUNT] = state(KEY.did, KEY, active=False)
    with pytest.raises(PaymentRefused, match="does not confirm"):
        world.payee(KEY.did)


def test_a_state_from_before_the_registration_is_read_again(soon):
    """The service caches states; the indexer has already seen the registration."""
    world = World(KEY.did)
    states = iter([state(WEB, KEY, active=False), state(KEY.did, KEY)])
    world.get_account_state = lambda _: next(states)
    assert world.payee(KEY.did).address == ACCOUNT


def test_another_methods_did_needs_the_chains_word_alone():
    world = World(WEB)
    world.states[ACCOUNT] = state(WEB, OTHER)
    assert world.payee(WEB).address == ACCOUNT
    world.states[ACCOUNT] = state("did:web:another.example", OTHER)
    with pytest.raises(PaymentRefused):
        world.payee(WEB)


NOTHING = AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")


class TwoChains:
    """A service with another account state on another chain."""

    def __init__(self, here, there):
        self.here, self.there = here, there

    def get_account_state(self, _address):
        return self.here

    def account_state_on(self, chain_id, _address):
        assert chain_id == 8453
        return self.there

    def check(self, address=ACCOUNT, did=KEY.did):
        run(check_elsewhere(Coroutines(self), Payee(address, did), 8453, CONTRACTS))


@pytest.mark.parametrize("there", [NOTHING, state(KEY.did, KEY)], ids=["not there yet", "there"])
def test_an_account_with_the_same_key_is_paid_on_another_chain(there):
    TwoChains(state(KEY.did, KEY), there).check()


@pytest.mark.parametrize(
    ("here", "there"), [(OTHER, NOTHING), (OTHER, state(KEY.did, KEY)), (KEY, state(KEY.did, OTHER))],
    ids=["replaced here, not there yet", "replaced here, not there", "replaced there"],
)  # fmt: skip
def test_an_account_with_another_key_on_the_other_chain_is_not_paid(here, there):
    with pytest.raises(PaymentRefused, match=r"on chain 8453, .* obeys another key"):
        TwoChains(state(KEY.did, here), there).check()


def test_an_address_is_paid_on_any_chain():
    TwoChains(state(KEY.did, OTHER), NOTHING).check(did=None)
