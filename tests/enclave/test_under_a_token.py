"""The bearer of a token can do exactly what the token permits with the vault, and nothing more."""

import base64
import hashlib

import pytest
from Crypto.Hash import keccak
from tests.support.api import Clock
from tests.support.credentials import KEY, registration
from tests.support.enclave_calls import did_key, done, refused
from tests.support.vault_tokens import twin

from holdfast.content import dag_cbor
from holdfast.enclave import Enclave, PluginCallError
from holdfast.wire.keccak import checksum_address

NOW = 1_800_000_000
ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
OPERATION = {
    "sender": "0x" + "Ab" * 20, "nonce": "0x01", "callData": "0xAABB", "callGasLimit": "0x1",
    "verificationGasLimit": "0x1", "preVerificationGas": "0x1", "maxFeePerGas": "0x1",
    "maxPriorityFeePerGas": "0x1",
}  # fmt: skip
SIGNED_OPERATION = {"user_op": OPERATION, "entry_point": ENTRY_POINT, "chain_id": 84532}


def vault(clock=None):
    enclave = Enclave(now=clock or Clock())
    enclave.call("generate", credential=registration(), key=KEY)
    return enclave


@pytest.fixture
def owner():
    return vault()


@pytest.fixture
def agent():
    return vault()


def delegated(owner, agent, command, *policy, **more):
    given = {"to": did_key(agent), "command": command, "policy": list(policy), **more}
    return str(owner.call("mint_ucan", **given)["container"])


def act(owner, command, token, args=None):
    _, resource, action = command.split("/")
    return owner.call("exec", filter=f"resource:{resource} action:{action}", args=args, token=token)


def code(answer):
    return "ok" if answer["success"] else str(answer["error"]).split(":")[0]


def first_key(owner):
    return str(done(owner, "enclaves", "list")[0]["enclave_id"])


def account(owner):
    return str(done(owner, "accounts", "list")[0]["id"])


def forged_root(owner, agent):
    """Return the digest that the owner's key would have to sign to give `agent` full authority, and the token body."""
    claims = {"iss": did_key(owner), "aud": did_key(agent), "sub": owner.call("status")["did"], "cmd": "/"}
    payload = {**claims, "pol": [], "nonce": b"forged", "exp": None}
    body = {"h": bytes.fromhex("3401ec0180241271"), "ucan/dlg@1.0.0-rc.1": payload}
    return hashlib.sha256(dag_cbor.encode(body)).digest(), body


@pytest.mark.parametrize("command", ["/accounts/sign", "/accounts", "/enclaves/sign", "/enclaves", "/"])
def test_no_token_signs_a_token_for_its_bearer(owner, agent, command):
    digest, body = forged_root(owner, agent)
    of_owner = owner.call("sign", digest=digest)["signature"]
    envelope = dag_cbor.encode([base64.b64decode(of_owner), body])
    assert code(act(owner, "/tokens/list", envelope)) == "ok", "the owner's own signature would be enough"

    token = delegated(owner, agent, command)
    for path in ("/accounts/sign", "/enclaves/sign"):
        args = {"digest": digest} | ({"id": account(owner)} if "accounts" in path else {})
        assert code(act(owner, path, token, args)) == "command_denied"
        assert code(act(owner, path, token, {**args, **SIGNED_OPERATION})) == "command_denied"
        assert code(act(owner, path, token, {**args, "message": "m"})) == "command_denied"
        if not path.startswith(command):
            continue
        asking = agent.call("invoke_ucan", command=path, token=token, args={**args, "digest": digest.hex()})
        assert code(act(owner, path, asking["container"], {**args, "digest": digest.hex()})) == "command_denied"


@pytest.mark.parametrize("path", ["/accounts/sign", "/enclaves/sign"])
def test_under_a_token_the_module_hashes_what_it_signs(owner, agent, path):
    token = delegated(owner, agent, path)
    named = {"id": account(owner)} if "accounts" in path else {}
    made = act(owner, path, token, {**SIGNED_OPERATION, **named})["result"]
    assert made["user_op_hash"] == owner.call("user_op_hash", **SIGNED_OPERATION)["user_op_hash"]
    signature = {"digest": made["user_op_hash"], "signature": made["signature"], "public_key": made["public_key"]}
    assert owner.call("verify_signature", **signature)["valid"]

    text = "Grüße, 1 < 2"
    data = text.encode()
    hashed = keccak.new(digest_bits=256, data=b"\x19Ethereum Signed Message:\n%d%s" % (len(data), data)).digest()
    signed = act(owner, path, token, {"message": text, **named})["result"]["signature"]
    asked = {"digest": hashed, "signature": signed, "public_key": made["public_key"]}
    assert owner.call("verify_signature", **asked)["valid"]


def test_the_owner_signs_whatever_it_wants(owner):
    assert code(act(owner, "/accounts/sign", None, {"id": account(owner), "digest": bytes(32)})) == "ok"
    assert owner.call("sign", message="hello")["signature"]
    for both in ({"digest": bytes(32), "message": "m"}, {"digest": bytes(32), **SIGNED_OPERATION}):
        assert code(act(owner, "/enclaves/sign", None, both)) == "invalid_field"
    assert refused(owner, "sign", digest=bytes(32), message="m") == "invalid_field"


def test_a_policy_is_not_pleased_by_an_argument_that_nothing_reads(owner, agent):
    token = delegated(owner, agent, "/accounts", ["<=", ".amount", 100], ["<=", ".total", 500])
    args = {"id": account(owner), **SIGNED_OPERATION}
    assert code(act(owner, "/accounts/sign", token, args)) == "policy_denied"
    assert code(act(owner, "/accounts/sign", token, {**args, "amount": 0, "total": 0})) == "invalid_field"
    assert code(act(owner, "/accounts/list", token, {"amount": 0, "total": 0})) == "invalid_field"


@pytest.mark.parametrize(
    ("command", "statement", "verdict"),
    [
        ("/accounts/pay", ["<=", ".amount", 100], "ok"),
        ("/accounts/pay", ["and", [["<=", ".total", 1], ["==", ".chainId", 1]]], "ok"),
        ("/accounts/pay", ["<=", ".amuont", 100], "invalid_field"),
        ("/accounts/pay", ["!=", ".to", "0x" + "ab" * 20], "invalid_field"),
        ("/accounts/pay", ["==", ".token", "0x" + "AB" * 20], "invalid_field"),
        ("/accounts/pay", ["or", [["==", ".to", "0x" + "ab" * 20]]], "invalid_field"),
        ("/accounts", ["not", ["==", ".to", "0x" + "ab" * 20]], "invalid_field"),
        ("/accounts/pay", ["!=", ".to", checksum_address(b"\xab" * 20)], "ok"),
        ("/accounts/pay", ["==", ".token", "native"], "ok"),
        ("/accounts/pay", ["like", ".to", "0x00*"], "ok"),
        ("/accounts", ["<=", ".amount", 100], "ok"),
        ("/accounts/sign", ["<=", ".amount", 100], "invalid_field"),
        ("/accounts/sign", ["==", ".user_op.sender", "0x00"], "ok"),
        ("/accounts/sign", ["not", ["<=", ".total", 100]], "invalid_field"),
        ("/accounts/list", ["or", [["<=", ".limit", 9], ["<=", ".amount", 9]]], "invalid_field"),
        ("/accounts/list", ["<=", ".limit", 9], "ok"),
        ("/accounts/list", ["==", ".", {}], "ok"),
        ("/enclaves", ["<=", ".amount", 100], "invalid_field"),
        ("/enclaves/sign", ["!=", ".enclave_id", "k"], "ok"),
        ("/enclaves/sign", ["!=", ".id", "k"], "ok"),
        ("/services/create", ["==", ".type", "relay"], "ok"),
        ("/services/update", ["==", ".type", "relay"], "invalid_field"),
        ("/tokens/create", ["any", ".kind", ["==", ".", 1]], "ok"),
        ("/credentials/verify", ["==", ".top_origins", ["https://a.example"]], "ok"),
        ("/", ["<=", ".amount", 100], "ok"),
        ("/msg/send", ["<=", ".amount", 100], "ok"),
    ],
)
def test_a_policy_that_nothing_would_hold_is_not_minted(owner, agent, command, statement, verdict):
    for given in ({"policy": [statement]}, {"caveats": {"policy": [statement]}}):
        try:
            owner.call("mint_ucan", to=did_key(agent), command=command, **given)
            found = "ok"
        except PluginCallError as refused:
            found = str(refused.code)
        assert found == verdict


def test_a_policy_sees_the_key_that_is_meant(owner, agent):
    """The policy "not with the first key" is enforced whether the first key is named in any form or used by default."""
    first = first_key(owner)
    second = done(owner, "enclaves", "create")["enclave_id"]
    token = delegated(owner, agent, "/enclaves", ["!=", ".enclave_id", first])
    by_id = delegated(owner, agent, "/enclaves", ["!=", ".id", first])
    for bearer in (token, by_id):
        for path, args in (("sign", SIGNED_OPERATION), ("derive", {}), ("refresh", {}), ("rotate", {})):
            for named in ({"enclave_id": first}, {"id": first}, {}, {"enclave_id": None, "id": None}):
                assert code(act(owner, f"/enclaves/{path}", bearer, {**args, **named})) == "policy_denied"
            for named in ({"enclave_id": second}, {"id": second}):
                assert code(act(owner, f"/enclaves/{path}", bearer, {**args, **named})) == "ok"


def test_a_policy_sees_the_account_s_key(owner, agent):
    token = delegated(owner, agent, "/accounts", ["!=", ".enclave_id", first_key(owner)])
    assert code(act(owner, "/accounts/sign", token, {"id": account(owner), **SIGNED_OPERATION})) == "policy_denied"
    assert code(act(owner, "/accounts/derive", token, {"chain": "ethereum"})) == "policy_denied"


@pytest.mark.parametrize(
    ("command", "statement", "args", "verdict"),
    [
        ("/accounts/list", ["not", [">", ".limit", 5]], {}, "policy_denied"),
        ("/accounts/list", ["not", [">", ".limit", 5]], {"limit": 5}, "ok"),
        ("/accounts/list", ["not", [">", ".limit", 5]], {"limit": None}, "policy_denied"),
        ("/accounts/derive", ["!=", ".chain", "ethereum"], {}, "policy_denied"),
        ("/enclaves/create", ["!=", ".curve", "P-256"], {}, "policy_denied"),
        ("/enclaves/create", ["==", ".keep_val_share", True], {}, "ok"),
        ("/sessions/create", ["!=", ".id", "mine"], {"id": "mine"}, "policy_denied"),
    ],
)
def test_a_policy_sees_what_is_left_to_defaults(owner, agent, command, statement, args, verdict):
    assert code(act(owner, command, delegated(owner, agent, command, statement), args)) == verdict


@pytest.mark.parametrize(
    ("resource", "given", "defaults"),
    [
        (
            "accounts",
            {"address": "0x1", "chain_id": "1"},
            {"coin_type": 60, "account_index": 0, "address_index": 0, "label": ""},
        ),
        (
            "credentials",
            {"credential_id": "AAAA"},
            {"device_name": "", "device_type": "platform", "authenticator": "", "transports": [], "sign_count": 0},
        ),
        ("sessions", {}, {"name": ""}),
        ("services", {"type": "t", "endpoint": "e"}, {"name": ""}),
        ("sync", {"role": "r", "status": "s"}, {"device": ""}),
        ("oidc", {"issuer": "i", "client_id": "c"}, {"subject": "", "scopes": []}),
    ],
)
def test_the_defaults_that_a_policy_sees_are_the_rows(owner, agent, resource, given, defaults):
    policy = [["==", f".{name}", value] for name, value in defaults.items()]
    for name, value in defaults.items():
        refusing = delegated(owner, agent, f"/{resource}/create", ["!=", f".{name}", value])
        assert code(act(owner, f"/{resource}/create", refusing, given)) == "policy_denied"
    made = act(owner, f"/{resource}/create", delegated(owner, agent, f"/{resource}/create", *policy), given)
    assert made["success"], made
    assert {name: made["result"][name] for name in defaults} == defaults


def test_another_spelling_of_an_operation_passes_no_policy(owner, agent):
    sender = OPERATION["sender"].lower()
    refusing = [
        ["!=", ".user_op.sender", sender],
        ["!=", ".user_op.callData", "0xaabb"],
        ["!=", ".user_op.nonce", "0x1"],
        ["!=", ".entry_point", ENTRY_POINT.lower()],
        ["==", ".user_op.amount", 1],
    ]
    for statement in refusing:
        token = delegated(owner, agent, "/enclaves/sign", statement)
        shown = {**SIGNED_OPERATION, "user_op": {**OPERATION, "amount": 1}}
        assert code(act(owner, "/enclaves/sign", token, shown)) == "policy_denied", statement
    allowing = delegated(owner, agent, "/enclaves/sign", ["==", ".user_op.sender", sender])
    assert code(act(owner, "/enclaves/sign", allowing, SIGNED_OPERATION)) == "ok"


def test_an_invocation_s_policies_see_the_same(owner, agent):
    """Policies check the invocation's own arguments, and the default values of fields that these arguments omit."""
    token = delegated(owner, agent, "/enclaves/derive", ["!=", ".enclave_id", first_key(owner)])
    for args in ({"id": first_key(owner)}, {}):
        asking = agent.call("invoke_ucan", command="/enclaves/derive", args=args, token=token)["container"]
        assert code(act(owner, "/enclaves/derive", asking, args)) == "policy_denied"
    other = done(owner, "enclaves", "create")["enclave_id"]
    asking = agent.call("invoke_ucan", command="/enclaves/derive", args={"id": other}, token=token)["container"]
    assert code(act(owner, "/enclaves/derive", asking, {"id": other})) == "ok"


@pytest.mark.parametrize("ends", [None, NOW + 60])
def test_a_revoked_token_stays_revoked(agent, ends):
    clock = Clock()
    owner = vault(clock)
    minted = owner.call("mint_ucan", to=did_key(agent), command="/accounts", expiration=ends)
    raw = minted["signed_dag_cbor"]
    done(owner, "delegations", "revoke", cid=minted["cid"])
    tidy = delegated(owner, agent, "/delegations/delete")
    for bearer in (None, tidy):
        assert code(act(owner, "/delegations/delete", bearer, {"cid": minted["cid"]})) == "conflict"
        assert code(act(owner, "/delegations/delete", bearer, {"id": minted["cid"]})) == "conflict"
    for form in (raw, twin(base64.b64decode(raw))):
        assert code(act(owner, "/accounts/list", form)) == "token_revoked"

    exported = owner.call("export", password="p")
    moved = Enclave(now=clock)
    assert moved.call("import", data=exported["data"], password="p", key=KEY)["success"]
    assert code(act(moved, "/accounts/list", raw)) == "token_revoked"
    assert code(act(moved, "/delegations/delete", None, {"cid": minted["cid"]})) == "conflict"
    clock.now = NOW + 60
    assert code(act(owner, "/delegations/delete", None, {"cid": minted["cid"]})) == "conflict", "in its last second"
    clock.now = NOW + 61
    assert code(act(owner, "/delegations/delete", None, {"cid": minted["cid"]})) == ("ok" if ends else "conflict")
    assert code(act(owner, "/accounts/list", raw)) == ("token_expired" if ends else "token_revoked")


def test_a_received_token_that_was_revoked_stays_too_and_rows_that_revoke_nothing_go(owner, agent):
    passed = owner.call("mint_ucan", to=did_key(agent), command="/accounts")["signed_dag_cbor"]
    row = done(agent, "ucans", "create", token=twin(base64.b64decode(passed)))
    assert row["cid"] == owner.call("verify_ucan", token=passed)["cid"], "a row goes by the form with the low s"
    assert code(act(agent, "/ucans/verify", None, {"cid": row["cid"]})) == "ok"
    done(agent, "ucans", "revoke", cid=row["cid"])
    assert code(act(agent, "/ucans/delete", None, {"cid": row["cid"]})) == "conflict"
    assert code(act(agent, "/ucans/verify", None, {"token": passed})) == "token_revoked"
    minted = owner.call("mint_ucan", to=did_key(agent), command="/accounts")
    assert code(act(owner, "/delegations/delete", None, {"cid": minted["cid"]})) == "ok"
    session = done(owner, "sessions", "create")["id"]
    done(owner, "sessions", "revoke", id=session)
    assert code(act(owner, "/sessions/delete", None, {"id": session})) == "ok"


def test_added_arguments_are_seen_by_their_delegation_alone(owner, agent):
    helper = vault()
    root = owner.call("mint_ucan", to=did_key(agent), command="/accounts/pay", policy=[["<=", ".total", 10]])
    given = {"to": did_key(helper), "command": "/accounts/pay", "policy": [["<=", ".total", 5]]}
    link = agent.call("mint_ucan", **given, token=root["container"])
    asked = {"token": link["container"], "command": "/accounts/pay", "args": {"amount": 1, "total": 99}}

    def verdict(of_root, of_link):
        added = {root["cid"]: {"total": of_root}, link["cid"]: {"total": of_link}}
        try:
            return str(owner.call("verify_ucan", **asked, added_args=added)["valid"])
        except PluginCallError as refused:
            return str(refused.code)

    assert [verdict(10, 5), verdict(11, 5), verdict(10, 6)] == ["True", "policy_denied", "policy_denied"]
    for bad in ([], {"nonsense": {}}, {root["cid"]: 1}):
        assert refused(owner, "verify_ucan", **asked, added_args=bad) == "invalid_field"


def tag_of(minted):
    return next(name for name in dag_cbor.decode(base64.b64decode(minted["signed_dag_cbor"]))[1] if name != "h")


@pytest.mark.parametrize("version", ["1.0.0", "1.0.0-rc.1"])
def test_both_versions_are_minted_read_and_mixed(owner, agent, version):
    root = owner.call("mint_ucan", to=did_key(agent), command="/accounts", version=version)
    assert tag_of(root) == f"ucan/dlg@{version}"
    for other in ("1.0.0", "1.0.0-rc.1"):
        use = agent.call("invoke_ucan", command="/accounts/list", token=root["container"], version=other)
        assert code(act(owner, "/accounts/list", use["container"])) == "ok"


def test_other_versions_are_neither_minted_nor_read(owner, agent):
    assert refused(owner, "mint_ucan", to=did_key(agent), command="/", version="1.0.1") == "unsupported_version"
    minted = owner.call("mint_ucan", to=did_key(agent), command="/")
    assert tag_of(minted) == "ucan/dlg@1.0.0-rc.1", "docs/decisions/0320"
    renamed = base64.b64decode(minted["signed_dag_cbor"]).replace(b"1.0.0-rc.1", b"1.0.0-rc.2")
    assert refused(owner, "verify_ucan", token=renamed) == "unsupported_version"


APP_TEXT = "holdfast/app-sign/v1\nOrigin: https://app.example\nDID: did:new:0x00\nText: I log in."


KEEPS_KEYS = ("removed-key", "pairing-passage")  # kinds of rows that decide over the vault's keys
METHOD = {"id": "mine", "type": "Multikey", "controller": "me", "public_key": "AA", "purpose": "authentication"}
WRITES = {"update": {"value": "v"}, "rotate": {"value": "v"}, "refresh": {"expires_at": "2030-01-01T00:00:00Z"}}
WRITES |= {"delete": {}, "revoke": {}}
FORBIDDEN = [
    *((path, {}) for path in ("/delegations/create", "/delegations/delegate", "/invocations/create")),
    *((f"/{resource}/sign", {"id": resource, "message": APP_TEXT}) for resource in ("accounts", "enclaves")),
    ("/verification_methods/create", METHOD),
    ("/verification_methods/update", {"id": "methods", "purpose": "p"}),
    ("/verification_methods/delete", {"id": "methods"}),
    *(("/tokens/create", {"id": "mine", "kind": kind, "value": "password:password"}) for kind in KEEPS_KEYS),
    *(("/tokens/create", {"id": f"{kind}:password:password", "kind": "session"}) for kind in KEEPS_KEYS),
    *((f"/tokens/{action}", {"id": kind, **more}) for kind in KEEPS_KEYS for action, more in WRITES.items()),
]


def rows_of(owner):
    return {
        name: done(owner, name, "list") for name in ("delegations", "invocations", "tokens", "verification_methods")
    }


@pytest.mark.parametrize("below", ["/", "the resource", "the action"])
def test_no_token_makes_tokens_signs_in_at_an_app_or_changes_what_decides_over_keys(owner, agent, below):
    for kind in KEEPS_KEYS:
        done(owner, "tokens", "create", id=kind, kind=kind, value="prf:AA")
    ids = {"accounts": account(owner), "enclaves": first_key(owner)}
    ids["methods"] = done(owner, "verification_methods", "list")[0]["id"]
    for path, args in FORBIDDEN:
        command = {"/": "/", "the resource": path.rpartition("/")[0], "the action": path}[below]
        token, before = delegated(owner, agent, command), rows_of(owner)
        given = {**args, "id": ids.get(args["id"], args["id"])} if "id" in args else args
        assert code(act(owner, path, token, given or None)) == "command_denied", path
        assert rows_of(owner) == before


def test_what_the_owner_or_another_text_may_do(owner, agent):
    token, named = delegated(owner, agent, "/"), {"id": account(owner)}
    assert code(act(owner, "/accounts/sign", token, {**named, "message": " " + APP_TEXT})) == "ok"
    assert code(act(owner, "/accounts/sign", None, {**named, "message": APP_TEXT})) == "ok"
    assert code(act(owner, "/verification_methods/list", token)) == "ok"


def test_a_token_writes_the_hosts_other_rows(owner, agent):
    token = delegated(owner, agent, "/tokens")
    assert code(act(owner, "/tokens/create", token, {"id": "t", "kind": "session", "value": "v"})) == "ok"
    assert code(act(owner, "/tokens/rotate", token, {"id": "t", "value": "w"})) == "ok"
    assert code(act(owner, "/tokens/delete", token, {"id": "t"})) == "ok"
    assert code(act(owner, "/tokens/delete", token, {"id": "t"})) == "not_found"


def test_the_bearer_whom_the_host_names_is_the_tokens_audience(owner, agent):
    token = delegated(owner, agent, "/services")
    for audience, verdict in ((did_key(agent), "ok"), (did_key(vault()), "wrong_audience")):
        answer = owner.call("exec", filter="resource:services action:list", token=token, audience=audience)
        assert code(answer) == verdict
    assert code(act(agent, "/services/list", token)) == "wrong_subject"
