"""The vault's account is the factory's account for the vault's key, or an account that was handed over to this key."""

from __future__ import annotations

import pytest
from tests.support.account_world import FIRST, HANDED, NEW, PREDICTED, AccountWorld, obeying

from holdfast.client.http.refusals import IndexerNotConfigured
from holdfast.wire.keccak import did_hash


def test_the_factorys_account_needs_no_indexer():
    world = AccountWorld({PREDICTED: obeying(NEW)})
    found = world.key()
    assert (found.address, found.controls, found.x) == (PREDICTED, True, NEW.x)
    assert world.asked == []


def test_an_account_that_is_not_there_yet_is_the_factorys():
    world = AccountWorld({})
    assert (world.key().address, world.key().controls) == (PREDICTED, True)
    assert world.asked[0] == "0x" + did_hash(FIRST.did).hex()


def test_an_account_that_was_handed_over_is_found_by_the_did():
    found = AccountWorld({HANDED: obeying(NEW)}, HANDED).key()
    assert (found.address, found.controls) == (HANDED, True)


def test_a_new_vaults_account_needs_no_indexer_either():
    world = AccountWorld({}, did=NEW.did)
    assert (world.key().address, world.key().controls) == (PREDICTED, True)
    assert world.asked == []


def test_an_account_without_a_registered_did_is_found_by_both_its_keys():
    world = AccountWorld({HANDED: obeying(NEW)}, listed=[PREDICTED, HANDED])
    assert world.key().address == HANDED
    assert world.asked[1] == {"owner": "0x" + FIRST.did[-40:], "key_owner": "0x" + NEW.did[-40:]}


def test_the_indexers_word_alone_is_not_enough():
    assert AccountWorld({HANDED: obeying(FIRST)}, HANDED, listed=[HANDED, "0xzz"]).key().address == PREDICTED


def test_the_account_of_a_key_that_was_replaced_obeys_no_more():
    found = AccountWorld({PREDICTED: obeying(FIRST)}).key()
    assert (found.address, found.controls) == (PREDICTED, False)


@pytest.mark.parametrize("controller", [None, "0x", "0x1234", "0xzz"])
def test_odd_answers_of_an_indexer_are_passed_over(controller):
    assert AccountWorld({}, controller).key().address == PREDICTED


def test_without_an_indexer_the_factorys_account_is_taken():
    refused = IndexerNotConfigured("indexer_not_configured", 503, retry_after_s=None, request_id=None)
    assert AccountWorld({}, error=refused).key().address == PREDICTED
