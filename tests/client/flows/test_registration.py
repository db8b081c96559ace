"""Registration in one call with a real service that has no chain: codes, refusals, and interruptions at every step."""

from __future__ import annotations

import json
import secrets

import httpx
import pytest
from tests.support.running_service import Awaited, json_server, running_service
from tests.support.soak import cases
from tests.support.software_authenticator import SoftwareAuthenticator

import holdfast
from holdfast.client import types
from holdfast.client.http.refusals import IdentifierReserved, IdentifierTaken, RegistrationUnproven
from holdfast.enclave.module import bundled_sha256
from holdfast.wire.client_errors import ClientStateError, NetworkError, WasmLoadError
from holdfast.wire.requests import NO_TRANSACTION

KEY = holdfast.SecretKey(b"k" * 32)
LIMITS = {"MAX_REGISTRATIONS_PER_IP": "1000", "MAX_VERIFY_SENDS_PER_IP": "1000"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("bare"), **LIMITS) as running:
        yield running


@pytest.fixture
def vault(tmp_path):
    with holdfast.VaultStore(directory=tmp_path) as store, holdfast.Vault(store) as opened:
        passkey = holdfast.Authenticator("http://localhost:1", SoftwareAuthenticator()).create_passkey(
            holdfast.Person("ada")
        )
        opened.generate(types.GenerateInput(credential=passkey.credential), KEY)
        yield opened


@pytest.fixture
def client(bare, vault):
    with holdfast.Client(bare.base_url, vault=vault) as made:
        yield made


def fresh(kind="email"):
    token = secrets.token_hex(6)
    return f"{token}@example.org" if kind == "email" else "h" + token


def test_an_email_address_with_a_wrong_code_first(client, bare):
    email, said, steps = fresh(), [], []

    def code(message):
        said.append(message)
        return "000000x" if len(said) == 1 else bare.code_for(email)

    made = client.register(email=email, code=code, on_progress=steps.append)
    assert (made.identifier, made.channel, made.tx_hash) == (email, "email", NO_TRANSACTION)
    assert steps == ["session", "code sent", "verified", "registered"]
    assert email in said[0]
    assert said[1] != said[0]
    assert client.register(email=email) == made
    assert client.vault.store.note(f"registration:{made.did}") is None


def crowd(client, handle):
    """Take all places for unconfirmed credentials of a handle, as a stranger who knows its DID can."""
    body = {"identifier": handle, "channel": "handle", "did": client.vault.status().did, "txHash": "0x00"}
    for n in range(8):
        httpx.post(f"{client.base_url}/api/dids", json={**body, "credentialId": f"{handle}-{n}"}).raise_for_status()


def test_strangers_credentials_are_no_obstacle(client):
    handle = fresh("handle")
    made = client.register(handle=handle, on_progress=lambda step: step == "session" and crowd(client, handle))
    found = client.lookup_did(client.vault.query().credentials[0].credential_id)
    assert (found.identifier, found.did) == (handle, made.did)


def test_a_vault_that_was_locked_meanwhile_registers_without_a_signature(client):
    handle = fresh("handle")
    made = client.register(handle=handle, on_progress=lambda step: step == "session" and client.vault.lock())
    assert made.identifier == handle


def test_a_handle_of_the_vaults_own_did_is_registered_again(client):
    """For example after the chain refused the registration, or on another device than the one that began it."""
    handle = fresh("handle")
    client.create_session(handle, "handle", client.vault.status().did)
    assert client.register(handle=handle).identifier == handle


def test_the_callback_may_be_a_coroutine(bare, vault):
    email = fresh()

    async def code(_message):
        return bare.code_for(email)

    with holdfast.Client(bare.base_url, vault=vault) as client:
        assert client.register(email=email, code=code).identifier == email


@pytest.mark.parametrize("step", cases({step: step for step in ("session", "code sent", "verified")}, "code sent"))
def test_an_interruption_anywhere_is_no_end(client, bare, step):
    email = fresh()

    def stop(told):
        if told == step:
            raise KeyboardInterrupt

    sent = []

    def code(_message):
        sent.append(1)
        return bare.code_for(email)

    with pytest.raises(KeyboardInterrupt):
        client.register(email=email, code=code, on_progress=stop)
    again = client.register(email=email, code=code)
    assert again.did == client.vault.status().did
    # The attestation from the first attempt is reused, so the person need not enter a second code.
    assert len(sent) == 1
    found = client.lookup_did(client.vault.query().credentials[0].credential_id)
    assert (found.identifier, found.did) == (email, again.did)


@pytest.mark.parametrize("lost", ["/api/sessions", "/api/verify/check", "/api/dids"])
@pytest.mark.parametrize("times", cases({"once": 1, "twice": 2}, "once"))
def test_an_answer_that_is_lost_is_no_end(bare, vault, lost, times):
    """If a response is lost, the client repeats the request once; if both are lost, a new `register` call continues."""
    email, broken = fresh(), []

    class Losing(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            response = await super().handle_async_request(request)
            if request.method == "POST" and request.url.path == lost and len(broken) < times:
                broken.append(1)
                await response.aclose()
                raise httpx.ReadTimeout("lost")
            return response

    with holdfast.Client(bare.base_url, vault=vault, transport=Losing()) as client:
        if times > 1:
            with pytest.raises(NetworkError):
                client.register(email=email, code=lambda _m: bare.code_for(email))
        made = client.register(email=email, code=lambda _m: bare.code_for(email))
    assert (made.identifier, len(broken)) == (email, times)


@pytest.mark.parametrize("answer", ["", None])
def test_giving_up_is_a_refusal(client, answer):
    with pytest.raises(holdfast.RegistrationRefused):
        client.register(email=fresh(), code=lambda _m: answer)


def test_five_wrong_codes_end_it(client):
    asked = []

    def wrong(message):
        asked.append(message)
        return "12345x"

    with pytest.raises(holdfast.RegistrationRefused):
        client.register(email=fresh(), code=wrong)
    assert len(asked) == 5


def test_refusals_of_the_service_pass_on(client):
    taken = fresh("handle")
    client.create_session(taken, "handle", "did:new:0x" + "11" * 32)
    with pytest.raises(IdentifierTaken):
        client.register(handle=taken)
    with pytest.raises(IdentifierReserved):
        client.register(handle="admin")
    assert client.register(handle=fresh("handle")).channel == "handle"


def test_a_squatters_session_does_not_keep_an_address_from_its_owner(bare, client):
    """Entering an address's code replaces another person's session for it; a session for a handle is not replaced."""
    email, squatter = fresh(), "did:new:0x" + "66" * 32
    client.create_session(email, "email", squatter)
    steps = []
    made = client.register(email=email, code=lambda _m: bare.code_for(email), on_progress=steps.append)
    assert (made.identifier, made.did) == (email, client.vault.status().did)
    assert steps == ["session", "code sent", "verified", "registered"]


def test_an_address_that_somebody_registered_stays_theirs(bare, client, tmp_path):
    email = fresh()
    client.register(email=email, code=lambda _m: bare.code_for(email))
    with holdfast.VaultStore(directory=tmp_path / "other") as store, holdfast.Vault(store) as other:
        authenticator = holdfast.Authenticator("http://localhost:1", SoftwareAuthenticator())
        passkey = authenticator.create_passkey(holdfast.Person("eve"))
        other.generate(types.GenerateInput(credential=passkey.credential), KEY)
        with holdfast.Client(bare.base_url, vault=other) as eve, pytest.raises(IdentifierTaken):
            eve.register(email=email, code=lambda _m: bare.code_for(email))


def no_receipt(_method, _path, body):
    return 200, {"jsonrpc": "2.0", "id": json.loads(body)["id"], "result": None}


def test_a_service_that_demands_proof_and_has_no_bundler_is_told_apart(vault, tmp_path_factory):
    with json_server(no_receipt) as chain:
        settings = {"HOLDFAST_RPC_URL": chain, "HOLDFAST_REGISTRATION_PROOF": "required", **LIMITS}
        with running_service(tmp_path_factory.mktemp("strict"), **settings) as running:
            strict = holdfast.Client(running.base_url, vault=vault)
            for _ in range(2):  # a second call continues and is refused as before
                with pytest.raises(
                    holdfast.RegistrationRefused, match=r"requires a transaction.* no bundler"
                ) as caught:
                    strict.register(handle="h-of-the-strict")
                assert isinstance(caught.value.__cause__, RegistrationUnproven)
            assert strict.lookup_did(vault.query().credentials[0].credential_id) is None
            strict.close()


@pytest.mark.parametrize("given", [{}, {"handle": "a", "email": "b@example.org"}, {"handle": ""}])
def test_exactly_one_identifier(client, given):
    with pytest.raises(ValueError, match="exactly one"):
        client.register(**given)


def test_a_code_callback_is_needed(client):
    with pytest.raises(ValueError, match="callback"):
        client.register(email=fresh())


def test_without_a_vault_there_is_nothing_to_register(bare):
    with holdfast.Client(bare.base_url) as client, pytest.raises(ClientStateError, match="has no vault"):
        client.register(handle="a")


@pytest.mark.parametrize("kind", cases({"blocking": "blocking", "asyncio": "asyncio"}, "blocking"))
def test_the_services_module_is_taken_when_it_is_the_expected_one(bare, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))
    client = (
        Awaited(lambda: holdfast.AsyncClient(bare.base_url)) if kind == "asyncio" else holdfast.Client(bare.base_url)
    )
    file = client.enclave_module()
    with holdfast.Vault(module=file) as vault:
        assert vault.boot_status.enclave
    assert client.enclave_module(bundled_sha256()) == file
    with pytest.raises(WasmLoadError, match="not the expected one"):
        client.enclave_module("00" * 32)
    client.finish() if kind == "asyncio" else client.close()


def test_as_many_codes_are_asked_for_as_the_service_judges():
    from holdfast.client.flows import registration
    from holdfast.rules.limits import Limits

    assert Limits().max_verify_attempts == registration._CODE_ATTEMPTS


@pytest.mark.parametrize(("reason", "steps"), [("reserved", ["session"]), ("taken", [])])
def test_a_handle_that_became_reserved_goes_on_for_its_did(vault, reason, steps):
    """A service calls a reserved handle taken only to its own DID; a look-up of the handle names the registrar."""
    answers = {
        "GET /api/dids/lookup": (200, {"found": False}),
        "POST /api/sessions": (409, {"error": "identifier_taken"}),
        "GET /api/aliases/check": (200, {"available": False, "did": "did:web:registrar"}),
        "GET /api/sessions/check": (200, {"available": False, "reason": reason}),
    }

    def answer(method, path, _body):
        return answers.get(f"{method} {path.partition('?')[0]}", (409, {"error": "attestation_used"}))

    with json_server(answer) as service, holdfast.Client(service, vault=vault) as client:
        taken = []
        with pytest.raises(holdfast.ServiceError):
            client.register(handle="www.ann", on_progress=taken.append)
    assert taken == steps
