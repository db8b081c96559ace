"""A payment to a DID is sent only if the chain confirms the account that the indexer returns."""

from __future__ import annotations

import pytest
from tests.support.running_service import Coroutines

from holdfast.client.blocking.loop import run
from holdfast.client.flows.failures import PaymentRefused
from holdfast.client.flows.payee import payee_of
from holdfast.client.types.service import AccountState, IndexerAccount, IndexerDid
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key, keccak256
from holdfast.world.software_key import SoftwareKey

KEY, OTHER = SoftwareKey.generate(), SoftwareKey.generate()
ACCOUNT, THIEF = checksum_address(b"\xa1" * 20), checksum_address(b"\xbb" * 20)
WEB = "did:web:example.org"


def owner_of(key):
    return checksum_address(keccak256(key.x.to_bytes(32) + key.y.to_bytes(32))[12:])


class World:
    """A fake indexer, and the chain's state for each account."""

    def __init__(self, did, controller=ACCOUNT, active=True):
        self.named = IndexerDid(found=True, controller=controller, active=active)
        self.states = {ACCOUNT: state(did, KEY)}
        self.owners = {}

    def indexer_did(self, _did_hash):
        return self.named

    def get_account_state(self, address):
        return self.states.get(
            address, AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")
        )

    def indexer_account(self, address):
        if address not in self.owners:
            return IndexerAccount(found=False)
        return IndexerAccount(found=True, account_address=address, owner_address=self.owners[address])

    def payee(self, to):
        return run(payee_of(Coroutines(self), to))


def state(did, key, active=True):
    hashed = to_hex(did_hash(did))
    return AccountState(nonce="1", did=hashed, is_active=active, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


def test_the_account_of_the_key_that_the_did_is_of():
    payee = World(KEY.did).payee(KEY.did)
    assert (payee.address, payee.did) == (ACCOUNT, KEY.did)


def test_an_address_is_taken_as_it_stands():
    assert World(KEY.did).payee(THIEF.lower()).address == THIEF


def test_an_indexer_that_names_another_account_is_not_believed():
    with pytest.raises(PaymentRefused, match="does not confirm"):
        World(KEY.did, controller=THIEF).payee(KEY.did)


def test_an_account_that_holds_the_did_with_a_strangers_key_is_not_paid():
    """Earlier registries let a stranger's account register another person's did:new."""
    world = World(KEY.did, controller=THIEF)
    world.states[THIEF] = state(KEY.did, OTHER)
    with pytest.raises(PaymentRefused, match="does not belong to the key"):
        world.payee(KEY.did)
    world.owners[THIEF] = owner_of(OTHER)
    with pytest.raises(PaymentRefused, match="does not belong to the key"):
        world.payee(KEY.did)


def test_after_a_change_of_keys_the_first_key_counts():
    world = World(KEY.did)
    world.states[ACCOUNT] = state(KEY.did, OTHER)
    with pytest.raises(PaymentRefused):
        world.payee(KEY.did)
    world.owners[ACCOUNT] = owner_of(KEY)
    assert world.payee(KEY.did).address == ACCOUNT


def test_inactive_on_the_chain_is_not_paid():
    world = World(KEY.did)
    world.states[ACCOUNT] = state(KEY.did, KEY, active=False)
    with pytest.raises(PaymentRefused, match="does not confirm"):
        world.payee(KEY.did)


@pytest.mark.parametrize("named", [IndexerDid(found=False), IndexerDid(found=True, active=False, controller=ACCOUNT)])
def test_unknown_or_inactive_at_the_indexer_is_not_paid(named):
    world = World(KEY.did)
    world.named = named
    with pytest.raises(PaymentRefused, match="not registered"):
        world.payee(KEY.did)


def test_another_methods_did_needs_the_chains_word_alone():
    world = World(WEB)
    world.states[ACCOUNT] = state(WEB, OTHER)
    assert world.payee(WEB).address == ACCOUNT
    world.states[ACCOUNT] = state("did:web:another.example", OTHER)
    with pytest.raises(PaymentRefused):
        world.payee(WEB)


def test_the_owner_is_the_end_of_the_dids_hash():
    assert owner_of(KEY).lower()[2:] == did_of_key(KEY.x, KEY.y)[-40:]
