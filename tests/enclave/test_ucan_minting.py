"""Tokens that the vault mints contain what was requested, can be verified, and never exceed the vault's authority."""

import base64

import pytest
from tests.support.credentials import KEY, registration
from tests.support.enclave_calls import denied, did_key, done, refused

from holdfast.content import dag_cbor
from holdfast.enclave import Enclave

NOW = 1_800_000_000
AGENT = "did:key:z6MkgGykN9ARNFjEzowVq4mLP2kL4NsyAaDGXeJFQ5qE1bfg"


def vault(curve="P-256"):
    enclave = Enclave(now=lambda: NOW)
    enclave.call("generate", credential=registration(), key=KEY, curve=curve)
    return enclave


@pytest.fixture(params=["P-256", "secp256k1"])
def owner(request):
    return vault(request.param)


def low_s(token):
    signature = dag_cbor.decode(base64.b64decode(token))[0]
    return int.from_bytes(signature[32:], "big") < 1 << 255


def test_a_delegation_says_what_was_asked(owner):
    minted = owner.call(
        "mint_ucan",
        to=AGENT,
        command="/notes/read",
        expiration=NOW + 60,
        not_before=NOW - 60,
        caveats={"chain_id": "84532", 'odd "name"\\': [1], "policy": [["<=", ".amount", 100]]},
        meta={"note": "for the agent"},
    )
    claims = owner.call("verify_ucan", token=minted["signed_dag_cbor"])
    assert claims["subject"] == owner.call("status")["did"]
    assert claims["audience"] == AGENT
    assert claims["command"] == "/notes/read"
    assert claims["policy"] == [
        ["==", '.["chain_id"]', "84532"],
        ["==", '.["odd \\"name\\"\\\\"]', [1]],
        ["<=", ".amount", 100],
    ]
    assert (claims["not_before"], claims["expiration"]) == (NOW - 60, NOW + 60)
    assert claims["meta"] == {"note": "for the agent"}
    assert claims["cid"] == minted["cid"]
    assert len(base64.b64decode(claims["nonce"])) == 16
    assert low_s(minted["signed_dag_cbor"])


@pytest.mark.parametrize(
    ("function", "given", "code"),
    [
        ("invoke_ucan", {"command": "/accounts/delete"}, "command_denied"),
        ("invoke_ucan", {"command": "/accounts/list", "args": {"limit": 4}}, "policy_denied"),
        ("invoke_ucan", {"command": "/accounts/list"}, "policy_denied"),
        ("mint_ucan", {"command": "/", "to": AGENT}, "command_denied"),
    ],
)
def test_nothing_is_minted_that_would_not_verify(function, given, code):
    owner, friend, thief = vault(), vault(), vault()
    token = owner.call("mint_ucan", to=did_key(friend), command="/accounts/list", caveats={"limit": 3})["container"]
    assert refused(friend, function, **given, token=token) == code
    assert refused(thief, "mint_ucan", to=AGENT, command="/accounts/list", token=token) == "wrong_audience"


def test_a_link_of_the_future_is_checked_as_of_then():
    owner, friend = vault(), vault()
    token = owner.call("mint_ucan", to=did_key(friend), command="/accounts", expiration=NOW + 60)["container"]
    asked = {"to": AGENT, "command": "/accounts", "token": token}
    passed = friend.call("mint_ucan", **asked, not_before=NOW + 60)["container"]
    assert refused(owner, "verify_ucan", token=passed) == "token_not_yet_valid"
    assert owner.call("verify_ucan", token=passed, now=NOW + 60)["valid"]
    assert refused(friend, "mint_ucan", **asked, not_before=NOW + 61) == "token_expired"


def test_a_vault_receives_one_token_at_a_time():
    owner, friend = vault(), vault()
    root = owner.call("mint_ucan", to=did_key(friend), command="/accounts")
    passed = friend.call("mint_ucan", to=did_key(owner), command="/accounts", token=root["container"])
    assert denied(owner, "ucans", "create", token=passed["container"]).startswith("invalid_token")
    assert done(owner, "ucans", "create", token=passed["signed_dag_cbor"])["cid"] == passed["cid"]


def test_proofs_and_token_are_32_at_most(owner):
    token = owner.call("mint_ucan", to=AGENT, command="/")["signed_dag_cbor"]
    assert refused(owner, "verify_ucan", token=token, proofs=[token] * 31) == "broken_chain"
    assert refused(owner, "verify_ucan", token=token, proofs=[token] * 32) == "value_too_large"
