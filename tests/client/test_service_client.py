"""Both clients call every endpoint of a real service, and take every step of registering an e-mail address."""

from __future__ import annotations

import inspect
import itertools
import secrets

import pytest
from tests.support.running_service import PREDICTED, Awaited
from tests.support.soak import FACES

from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.http import refusals

ADDRESS = "0x" + "22" * 20
# The generator point of P-256, used as a public key.
X = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
Y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
_ADDRESSES = itertools.count(1)


@pytest.fixture(params=FACES)
def client(request, service):
    number = next(_ADDRESSES)
    options = {"headers": {"X-Forwarded-For": f"198.51.{number // 250}.{number % 250 + 1}"}}
    if request.param == "asyncio":
        made = Awaited(lambda: AsyncServiceClient(service.base_url, **options))
    else:
        made = ServiceClient(service.base_url, **options)
    yield made
    made.finish() if request.param == "asyncio" else made.close()


def fresh(kind):
    token = secrets.token_hex(6)
    did = "did:new:0x" + secrets.token_hex(32)
    return {"handle": "h" + token, "email": f"{token}@example.org"}[kind], did


def test_every_endpoint_answers_with_its_type(client):
    kinds = {
        "contracts": client.contracts(),
        "status": client.status(),
        "state": client.get_account_state(ADDRESS),
        "balance": client.balance(ADDRESS, "eth", 84532),
        "counters": client.registration_counters(),
        "alias": client.check_alias("nobody-" + secrets.token_hex(4)),
    }
    assert kinds["contracts"].chain_id == 84532
    assert kinds["status"].database == "connected"
    assert (kinds["state"].nonce, kinds["state"].is_active) == ("7", True)
    assert (kinds["balance"].symbol, kinds["balance"].formatted) == ("ETH", "1.5")
    assert kinds["counters"].ip_limit == 3
    assert kinds["alias"].available is True
    assert client.balance(ADDRESS, "USDC", 8453).formatted == "2.500000"
    assert [(chain.chain_id, chain.main) for chain in client.chains().chains] == [(84532, True), (8453, False)]
    assert client.account_state_on(8453, ADDRESS).nonce == "7"
    assert client.get_smart_account_address(X, Y, 3).lower() == PREDICTED
    assert client.get_smart_account_address(X, Y, 3, vault_url=client_address(client)).lower() == PREDICTED
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


def client_address(client):
    return client.base_url


def test_from_nothing_to_a_registered_address(client, service):
    email, did = fresh("email")
    assert client.check_session(email, "email").available
    assert client.create_session(email, "email", did).did == did
    assert client.verification_status(email, "email").verified is False
    assert client.send_code(email, "email").channel == "email"
    wrong = client.check_code(email, "email", "0000000")
    assert (wrong.verified, wrong.attestation) == (False, None)
    assert wrong.message
    right = client.check_code(email, "email", service.code_for(email))
    assert right.verified
    assert right.attestation.identifier == email
    assert client.verification_status(email, "email").verified_at is not None
    credential = secrets.token_urlsafe(24)
    fields = {"credential_id": credential, "identifier": email, "channel": "email", "did": did, "tx_hash": "0x1"}
    with pytest.raises(refusals.AttestationRequired):
        client.register_did(**fields)
    assert client.register_did(**fields, attestation=right.attestation, block_number=5).tx_hash == "0x1"
    found = client.lookup_did(credential)
    assert (found.identifier, found.did, found.block_number) == (email, did, 5)
    assert client.check_session(email, "email").reason == "taken"
    with pytest.raises(refusals.CredentialAlreadyRegistered):
        client.register_did(**fields, attestation=right.attestation)


def test_a_handle_needs_no_code(client):
    handle, did = fresh("handle")
    client.create_session(handle, "handle", did)
    credential = secrets.token_urlsafe(24)
    answer = client.register_did(
        credential_id=credential, identifier=handle, channel="handle", did=did, tx_hash="0x2", smart_account=ADDRESS
    )
    assert (answer.ok, answer.channel) == (True, "handle")
    assert client.check_alias(handle.upper()).did == did


def test_refusals_of_the_real_service_are_typed(client):
    handle, did = fresh("handle")
    client.create_session(handle, "handle", did)
    cases = [
        (refusals.IdentifierTaken, lambda: client.create_session(handle, "handle", fresh("handle")[1])),
        (refusals.IdentifierReserved, lambda: client.create_session("admin", "handle", did)),
        (refusals.InvalidRequest, lambda: client.create_session("", "handle", did)),
        (refusals.InvalidRequest, lambda: client.send_code("a@example.org", "fax")),
        (refusals.InvalidRequest, lambda: client.get_account_state("0x12")),
        (refusals.InvalidRequest, lambda: client.balance(ADDRESS, "DOGE", 84532)),
        (refusals.RpcMethodNotAllowed, lambda: client.bundler("eth_call")),
    ]
    for kind, ask in cases:
        with pytest.raises(kind) as caught:
            ask()
        assert caught.value.code
        assert caught.value.status >= 400


def test_the_registration_limit_is_a_typed_error(client):
    for _ in range(3):
        handle, did = fresh("handle")
        client.create_session(handle, "handle", did)
    with pytest.raises(refusals.IpLimitReached) as caught:
        client.create_session(*fresh("handle")[:1], "handle", did)
    assert caught.value.status == 429


def test_the_service_as_a_guardian(client):
    signer, request = X + Y, "0" * 32
    terms = client.recovery_terms()
    assert terms.guardian in terms.guardians
    with pytest.raises(refusals.RecoveryNotPossible):
        client.ask_recovery(fresh("email")[0], "email", [signer])
    assert client.check_recovery(request, "000000").verified is False
    with pytest.raises(refusals.RecoveryNotPossible):
        client.sign_recovery(ADDRESS, [signer])
    assert client.stop_recovery(request).stopped is False


def test_every_method_is_used_here():
    source = inspect.getsource(inspect.getmodule(fresh))
    methods = [name for name, f in vars(ServiceClient).items() if inspect.isfunction(f) and not name.startswith("_")]
    assert [name for name in methods if f"client.{name}" not in source] == ["close"]  # the fixture closes
    assert set(methods) <= set(dir(AsyncServiceClient))
