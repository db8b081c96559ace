"""Which account is the vault's: the factory's for its key, or the one that was handed over to it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.support.running_service import Coroutines

from holdfast.client.blocking.loop import run
from holdfast.client.flows.accounts import account_of
from holdfast.client.http.refusals import IndexerNotConfigured
from holdfast.client.types.service import AccountState, IndexerDid
from holdfast.wire.encoding import to_base64url
from holdfast.wire.keccak import checksum_address, did_hash
from holdfast.world.software_key import SoftwareKey

FIRST, NEW = SoftwareKey.generate(), SoftwareKey.generate()
PREDICTED, HANDED = checksum_address(b"\x01" * 20), checksum_address(b"\x02" * 20)
NOTHING = AccountState(nonce="0", did="0x" + "00" * 32, is_active=False, pub_key_x="0x0", pub_key_y="0x0")


def obeying(key, nonce="1"):
    return AccountState(nonce=nonce, did="0x" + "00" * 32, is_active=True, pub_key_x=hex(key.x), pub_key_y=hex(key.y))


class World:
    """A service: `states` by address, and the controller that the indexer names for the first key's DID."""

    def __init__(self, states, controller=None, error=None, listed=(), did=FIRST.did):
        self.states, self.controller, self.error = states, controller, error
        self.listed, self.did = listed, did
        self.asked = []

    def query(self):
        point = b"\x04" + NEW.x.to_bytes(32) + NEW.y.to_bytes(32)
        return SimpleNamespace(did=self.did, verification_methods=[SimpleNamespace(public_key=to_base64url(point))])

    def get_smart_account_address(self, _x, _y):
        return PREDICTED

    def get_account_state(self, address):
        return self.states.get(address, NOTHING)

    def indexer_did(self, hashed):
        self.asked.append(hashed)
        if self.error:
            raise self.error
        return IndexerDid(found=self.controller is not None, controller=self.controller, active=True)

    def indexer_accounts(self, query):
        self.asked.append(query)
        return {"accounts": [{"account_address": address} for address in self.listed], "next_cursor": None}

    def key(self):
        return run(account_of(Coroutines(self), Coroutines(self)))


def test_the_factorys_account_needs_no_indexer():
    world = World({PREDICTED: obeying(NEW)})
    found = world.key()
    assert (found.address, found.controls, found.x) == (PREDICTED, True, NEW.x)
    assert world.asked == []


def test_an_account_that_is_not_there_yet_is_the_factorys():
    world = World({})
    assert (world.key().address, world.key().controls) == (PREDICTED, True)
    assert world.asked[0] == "0x" + did_hash(FIRST.did).hex()


def test_an_account_that_was_handed_over_is_found_by_the_did():
    found = World({HANDED: obeying(NEW)}, HANDED).key()
    assert (found.address, found.controls) == (HANDED, True)


def test_a_new_vaults_account_needs_no_indexer_either():
    world = World({}, did=NEW.did)
    assert (world.key().address, world.key().controls) == (PREDICTED, True)
    assert world.asked == []


def test_an_account_without_a_registered_did_is_found_by_both_its_keys():
    world = World({HANDED: obeying(NEW)}, listed=[PREDICTED, HANDED])
    assert world.key().address == HANDED
    assert world.asked[1] == {"owner": "0x" + FIRST.did[-40:], "key_owner": "0x" + NEW.did[-40:]}


def test_the_indexers_word_alone_is_not_enough():
    assert World({HANDED: obeying(FIRST)}, HANDED, listed=[HANDED, "0xzz"]).key().address == PREDICTED


def test_the_account_of_a_key_that_was_replaced_obeys_no_more():
    found = World({PREDICTED: obeying(FIRST)}).key()
    assert (found.address, found.controls) == (PREDICTED, False)


@pytest.mark.parametrize("controller", [None, "0x", "0x1234", "0xzz"])
def test_odd_answers_of_an_indexer_are_passed_over(controller):
    assert World({}, controller).key().address == PREDICTED


def test_without_an_indexer_the_factorys_account_is_taken():
    refused = IndexerNotConfigured("indexer_not_configured", 503, retry_after_s=None, request_id=None)
    assert World({}, error=refused).key().address == PREDICTED
