"""The vault's account is the account of the key whose hash is the DID, at an address that nobody is asked for."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, NOTHING, OTHER, OWN, AccountWorld, obeying

from holdfast.client.flows.accounts import account_address
from holdfast.client.types.service import ForeignContracts
from holdfast.wire.client_errors import PluginCallError

FOREIGN = msgspec.structs.replace(CONTRACTS, app_factory="0x" + "fa" * 20)


def test_the_account_follows_from_the_key_of_the_did():
    found = AccountWorld({ACCOUNT: obeying(OWN)}).key()
    assert (found.address, found.x) == (ACCOUNT, OWN.x)
    assert not found.is_replaced(obeying(OWN))


@pytest.mark.parametrize("keys", [(OTHER, OWN), (OWN, OTHER)])
def test_the_vaults_other_keys_do_not_count(keys):
    assert AccountWorld({}, keys).key().address == ACCOUNT


def test_a_vault_without_the_key_of_its_did_has_no_account():
    with pytest.raises(PluginCallError, match="no key of its DID"):
        AccountWorld({}, [OTHER]).key()


def test_a_key_of_another_curve_has_no_account():
    with pytest.raises(PluginCallError, match="P-256"):
        AccountWorld({}, curve="secp256k1").key()


def test_an_account_that_is_not_there_yet_is_the_keys():
    found = AccountWorld({}).key()
    assert found.address == ACCOUNT
    assert not found.is_replaced(NOTHING)


def test_an_account_whose_key_was_replaced_obeys_no_more():
    assert AccountWorld({}).key().is_replaced(obeying(OTHER))


def test_another_factory_is_taken_only_on_request():
    assert CONTRACTS.checked() is CONTRACTS
    for refused in (FOREIGN.checked, FOREIGN.for_vault):
        with pytest.raises(ForeignContracts, match="may obey another key"):
            refused()
    assert account_address(FOREIGN.checked(foreign=True), OWN.x, OWN.y) != ACCOUNT
