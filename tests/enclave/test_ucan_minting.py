"""Tokens that the vault mints contain what was requested, can be verified, and never exceed the vault's authority."""

import base64
import json
from pathlib import Path

import pytest

from holdfast.content import dag_cbor
from holdfast.enclave import Enclave, PluginCallError

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
NOW = 1_800_000_000
KEY = {"kind": "secret", "secret": bytes(range(32))}
AGENT = "did:key:z6MkgGykN9ARNFjEzowVq4mLP2kL4NsyAaDGXeJFQ5qE1bfg"


def vault(curve="P-256"):
    cases = json.loads((VECTORS / "webauthn" / "valid.json").read_text())["cases"]
    enclave = Enclave(now=lambda: NOW)
    enclave.call("generate", credential=cases[0]["input"]["credential"], key=KEY, curve=curve)
    return enclave


@pytest.fixture(params=["P-256", "secp256k1"])
def owner(request):
    return vault(request.param)


def did_key(enclave):
    """Return the vault's key as a did:key, the issuer of every token that it mints."""
    minted = enclave.call("mint_ucan", to=AGENT, command="/")
    return str(enclave.call("inspect_ucan", token=minted["signed_dag_cbor"])["tokens"][0]["issuer"])


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
        with pytest.raises(PluginCallError) as refused:
            owner.call("verify_ucan", **asked, args=args)
        assert refused.value.code == "policy_denied"


def test_two_tokens_are_never_the_same(owner):
    made = {owner.call("mint_ucan", to=AGENT, command="/")["cid"] for _ in range(10)}
    assert len(made) == 10


def test_an_invocation_on_itself(owner):
    minted = owner.call("invoke_ucan", command="/accounts/list", args={"limit": 3})
    claims = owner.call("verify_ucan", token=minted["signed_dag_cbor"], command="/accounts/list", args={"limit": 3})
    assert claims["kind"] == "invocation"
    assert claims["proofs"] == []
    assert claims["expiration"] == NOW + 300


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
    with pytest.raises(PluginCallError) as refused:
        owner.call("verify_ucan", token=invoked["container"], revoked=[root["cid"]])
    assert refused.value.code == "token_revoked"


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
    with pytest.raises(PluginCallError) as refused:
        friend.call("invoke_ucan", **given, token=token["container"])
    assert refused.value.code == code


def test_a_link_cannot_widen_or_be_stolen():
    owner, friend, thief = vault(), vault(), vault()
    token = owner.call("mint_ucan", to=did_key(friend), command="/accounts")["container"]
    for enclave, command, code in ((friend, "/", "command_denied"), (thief, "/accounts", "wrong_audience")):
        with pytest.raises(PluginCallError) as refused:
            enclave.call("mint_ucan", to=AGENT, command=command, token=token)
        assert refused.value.code == code


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"command": "/"}, "missing_field"),
        ({"to": AGENT}, "missing_field"),
        ({"to": "agent", "command": "/"}, "invalid_token"),
        ({"to": AGENT, "command": "accounts"}, "invalid_token"),
        ({"to": AGENT, "command": "/", "expiration": -1}, "invalid_field"),
        ({"to": AGENT, "command": "/", "expiration": 1.5}, "invalid_field"),
        ({"to": AGENT, "command": "/", "caveats": []}, "invalid_field"),
        ({"to": AGENT, "command": "/", "caveats": {"policy": [["~", ".a", 1]]}}, "invalid_token"),
        ({"to": AGENT, "command": "/", "meta": 1}, "invalid_field"),
        ({"to": AGENT, "command": "/", "enclave_id": "nobody's"}, "not_found"),
        ({"to": AGENT, "command": "/", "token": "C"}, "invalid_token"),
    ],
)
def test_what_cannot_be_minted(given, code):
    with pytest.raises(PluginCallError) as refused:
        vault().call("mint_ucan", **given)
    assert refused.value.code == code


def test_a_locked_vault_mints_nothing(owner):
    owner.call("lock")
    for function, given in (("mint_ucan", {"to": AGENT, "command": "/"}), ("invoke_ucan", {"command": "/"})):
        with pytest.raises(PluginCallError) as refused:
            owner.call(function, **given)
        assert refused.value.code == "vault_locked"


def test_one_function_mints_both_kinds(owner):
    for kind, given in (("delegation", {"to": AGENT}), ("invocation", {})):
        minted = owner.call("mint_ucan", kind=kind, command="/accounts/list", **given)
        assert owner.call("inspect_ucan", token=minted["signed_dag_cbor"])["tokens"][0]["kind"] == kind
        table = kind + "s"
        assert owner.call("exec", filter=f"resource:{table} action:list")["result"][0]["cid"] == minted["cid"]
    with pytest.raises(PluginCallError) as refused:
        owner.call("mint_ucan", kind="receipt", command="/")
    assert refused.value.code == "invalid_field"


def test_a_share_that_does_not_fit_is_named(owner):
    with pytest.raises(PluginCallError) as refused:
        owner.call("mint_ucan", to=AGENT, command="/", val_share=bytes(48))
    assert refused.value.code == "share_rejected"
