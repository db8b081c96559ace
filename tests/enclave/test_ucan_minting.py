"""Tokens that the vault mints contain what was requested, can be verified, and never exceed the vault's authority."""

import base64

import pytest
from tests.support.credentials import KEY, registration
from tests.support.enclave_calls import did_key, refused

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


def test_its_caveats_bind(owner):
    token = owner.call("mint_ucan", to=AGENT, command="/", caveats={"to": "0xabc", "policy": [["<", ".n", 5]]})
    asked = {"token": token["container"], "command": "/tokens/get"}
    assert owner.call("verify_ucan", **asked, args={"to": "0xabc", "n": 4})["valid"]
    for args in ({"to": "0xdef", "n": 4}, {"to": "0xabc", "n": 5}, {"n": 4}, {}):
        assert refused(owner, "verify_ucan", **asked, args=args) == "policy_denied"


def test_two_tokens_are_never_the_same(owner):
    made = {owner.call("mint_ucan", to=AGENT, command="/")["cid"] for _ in range(10)}
    assert len(made) == 10


def test_authority_passes_from_vault_to_vault(owner):
    """The owner delegates to a friend, the friend to a helper, who invokes with the whole chain in one container."""
    friend, helper = vault("secp256k1"), vault("P-256")
    root = owner.call("mint_ucan", to=did_key(friend), command="/accounts")
    passed = friend.call(
        "mint_ucan",
        to=did_key(helper),
        command="/accounts/list",
        token=root["container"],
        caveats={"limit": 3},
    )
    invoked = helper.call("invoke_ucan", command="/accounts/list", args={"limit": 3}, token=passed["container"])
    claims = owner.call("verify_ucan", token=invoked["container"], subject=owner.call("status")["did"])
    assert claims["proofs"] == [root["cid"], passed["cid"]]
    assert claims["issuer"] == did_key(helper)
    assert refused(owner, "verify_ucan", token=invoked["container"], revoked=[root["cid"]]) == "token_revoked"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"command": "/accounts/delete"}, "command_denied"),
        ({"command": "/accounts/list", "args": {"limit": 4}}, "policy_denied"),
        ({"command": "/accounts/list"}, "policy_denied"),
    ],
)
def test_nothing_is_minted_that_would_not_verify(given, code):
    owner, friend = vault(), vault()
    token = owner.call("mint_ucan", to=did_key(friend), command="/accounts/list", caveats={"limit": 3})
    assert refused(friend, "invoke_ucan", **given, token=token["container"]) == code


def test_a_link_cannot_widen_or_be_stolen():
    owner, friend, thief = vault(), vault(), vault()
    token = owner.call("mint_ucan", to=did_key(friend), command="/accounts")["container"]
    for enclave, command, code in ((friend, "/", "command_denied"), (thief, "/accounts", "wrong_audience")):
        assert refused(enclave, "mint_ucan", to=AGENT, command=command, token=token) == code
