"""Both clients call every endpoint of a real service, and take every step of registering an e-mail address."""

import itertools
import secrets

import pytest
from tests.support.running_service import PREDICTED

from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.http import refusals

ADDRESS = "0x" + "22" * 20
# The generator point of P-256, used as a public key.
X = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
Y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
_ADDRESSES = itertools.count(1)


@pytest.fixture
def client(service):
    headers = {"X-Forwarded-For": f"198.51.100.{next(_ADDRESSES)}"}
    with ServiceClient(service.base_url, headers=headers) as made:
        yield made


def test_every_endpoint_answers_with_its_type(client):
    assert client.contracts().chain_id == 84532
    assert client.status().database == "connected"
    state, balance = client.get_account_state(ADDRESS), client.balance(ADDRESS, "eth", 84532)
    assert (state.nonce, state.is_active) == ("7", True)
    assert (balance.symbol, balance.formatted) == ("ETH", "1.5")
    assert client.registration_counters().ip_limit == 3
    assert client.check_alias("nobody-" + secrets.token_hex(4)).available is True
    assert client.balance(ADDRESS, "USDC", 8453).formatted == "2.500000"
    assert [(chain.chain_id, chain.main) for chain in client.chains().chains] == [(84532, True), (8453, False)]
    assert client.account_state_on(8453, ADDRESS).nonce == "7"
    assert client.get_smart_account_address(X, Y, 3).lower() == PREDICTED
    assert client.get_smart_account_address(X, Y, 3, vault_url=client.base_url).lower() == PREDICTED
    assert client.lookup_did("nobody") is None
    assert client.bundler("eth_supportedEntryPoints") == ["0x01"]
    assert client.enclave_wasm()[:4] == b"\0asm"
    assert client.readyz()["ok"] is True
    for ask in (client.indexer_stats, client.indexer_health, client.indexer_events, client.indexer_accounts):
        with pytest.raises(refusals.IndexerNotConfigured):
            ask()
    for ask in (client.indexer_did, client.indexer_alias, client.indexer_account):
        with pytest.raises(refusals.IndexerNotConfigured):
            ask("0x" + "11" * 32)
