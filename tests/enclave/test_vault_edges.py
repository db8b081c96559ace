"""Edge cases of a vault: which row a call affects, the maximum size, whose tokens are valid, and exact expiry times."""

import base64
import hashlib
import json
import math

import pytest
from tests.support.enclave_calls import denied, did_key, done, refused
from tests.support.pairing_by_hand import pair

from holdfast.content import dag_cbor
from holdfast.enclave import Enclave, PluginCallError

AGENT = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
DIGEST = hashlib.sha256(b"digest").digest()
LARGEST = 16 << 20


@pytest.fixture
def other(credential, key):
    with Enclave() as instance:
        instance.call("generate", credential=credential, key=key)
        yield instance


@pytest.mark.parametrize("name", ["id", "enclave_id"])
def test_each_action_of_a_key_means_the_key_that_is_named(vault, name):
    made = done(vault, "enclaves", "create", curve="secp256k1")
    named, none = {name: made["enclave_id"]}, {name: "nobody's"}
    public = {"public_key": made["public_key_hex"], "curve": "secp256k1"}
    signature = done(vault, "enclaves", "sign", **named, digest=DIGEST.hex())["signature"]
    assert vault.call("verify_signature", **public, digest=DIGEST, signature=signature) == {"valid": True}
    assert done(vault, "enclaves", "derive", **named) == vault.call("derive_address", **public)
    for number, action in enumerate(("refresh", "rotate"), 1):
        assert done(vault, "enclaves", action, **named)["public_key"] == made["public_key"]
        row = done(vault, "enclaves", "get", **named)
        assert set(row) == {"enclave_id", "curve", "public_key", "generation", "created_at"}
        assert row["generation"] == number
    for action in ("sign", "derive", "refresh", "rotate"):
        assert denied(vault, "enclaves", action, **none, digest=DIGEST.hex()) == "not_found: enclave_id"


def test_a_policy_on_the_row_cannot_be_talked_around(vault):
    """`args` has two names for a row; if both were accepted, a policy could check one and the action use the other."""
    for credential_id in ("AAAA", "BBBB"):
        done(vault, "credentials", "create", credential_id=credential_id)
    for told, used in (("id", "credential_id"), ("credential_id", "id")):
        policy = [["==", f".{told}", "AAAA"]]
        token = vault.call("mint_ucan", to=AGENT, command="/credentials", policy=policy)["container"]
        for action in ("delete", "get", "update", "create", "verify"):
            args = {told: "AAAA", used: "BBBB", "device_name": "x", "assertion": "e30"}
            answer = vault.call("exec", filter=f"resource:credentials action:{action}", args=args, token=token)
            assert answer["success"] is False, action
    assert denied(vault, "credentials", "get", id="AAAA", credential_id="BBBB") == "invalid_field: id"
    assert done(vault, "credentials", "get", id="AAAA", credential_id="AAAA")["credential_id"] == "AAAA"
    assert len(done(vault, "credentials", "list")) == 3


def test_an_invocation_is_for_this_vault_whoever_brings_it(vault, other):
    held = vault.call("mint_ucan", to=did_key(other), command="/services")["container"]
    elsewhere = "did:web:another.example"
    filter_ = "resource:services action:list"
    foreign = other.call("invoke_ucan", command="/services/list", token=held, audience=elsewhere)["container"]
    own = other.call("invoke_ucan", command="/services/list", token=held)["container"]
    for more in ({}, {"audience": elsewhere}, {"audience": did_key(other)}):
        assert vault.call("exec", filter=filter_, token=foreign, **more)["error"] == "wrong_audience"
        assert vault.call("exec", filter=filter_, token=own, **more) == {"success": True, "result": []}


def test_a_revoked_chain_is_neither_passed_on_nor_invoked(vault, other):
    held = vault.call("mint_ucan", to=did_key(other), command="/services")
    done(other, "ucans", "create", token=held["signed_dag_cbor"])
    done(other, "ucans", "revoke", id=held["cid"])
    for function, more in (("invoke_ucan", {}), ("mint_ucan", {"to": AGENT})):
        assert refused(other, function, command="/services/list", token=held["container"], **more) == "token_revoked"


def test_another_key_does_not_speak_for_the_vaults_did(vault):
    second = done(vault, "enclaves", "create")["enclave_id"]
    for function, more in (("mint_ucan", {"to": AGENT}), ("invoke_ucan", {})):
        assert refused(vault, function, command="/services/list", enclave_id=second, **more) == "broken_chain"


class Draws:
    """A source of random bytes that works `left` times and then fails."""

    def __init__(self):
        self.left = 1 << 20

    def __call__(self, size):
        self.left -= 1
        if self.left < 0:
            raise OSError
        return hashlib.shake_256(b"%d" % self.left).digest(size)


def test_a_vault_that_could_not_be_made_leaves_the_one_before(credential, key):
    """If randomness fails at any point, no partial vault remains, and a vault that was locked before loses nothing."""
    random = Draws()

    def facts(vault):
        return {name: value for name, value in vault.call("status").items() if name != "last_activity"}

    with Enclave(random=random) as vault:
        refusals = 0
        for _ in ("nothing before", "a locked vault before"):
            before, drawn = facts(vault), -1
            while facts(vault) == before:
                drawn, random.left = drawn + 1, drawn + 1
                try:
                    vault.call("generate", credential=credential, key=key)
                except PluginCallError as refused:
                    assert refused.code == "entropy_unavailable"
                    refusals += 1
            assert vault.call("status")["locked"] is False
            random.left = 1 << 20
            vault.call("lock")
        assert refusals >= 20
        assert vault.call("unlock", key=key)["success"] is True


@pytest.mark.parametrize(
    "text",
    [
        *("2023-00-01T00:00:00Z", "2023-13-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-02-29T00:00:00Z"),
        *("2024-02-30T00:00:00Z", "2023-04-31T00:00:00Z", "2023-01-01T24:00:00Z", "2023-01-01T00:60:00Z"),
        *("2023-01-01T00:00:60Z", "2023-01-01 00:00:00Z", "2023-01-01T00:00:00", "2023-01-01T00:00:00.00Z"),
    ],
)
def test_what_is_no_instant_is_refused(vault, text):
    assert denied(vault, "sessions", "create", expires_at=text).startswith(("invalid_field", "value_too_large"))
    leap = done(vault, "sessions", "create", expires_at="2024-02-29T23:59:59.999Z")
    assert leap["expires_at"] == "2024-02-29T23:59:59.999Z"


def test_an_attachment_that_nobody_knows_is_as_none(credential, key):
    """Unknown values of authenticatorAttachment must be ignored (WebAuthn, section 5.4.5)."""
    given = {**json.loads(credential), "authenticatorAttachment": "implant"}
    given["response"]["transports"] = ["usb"]
    with Enclave() as vault:
        vault.call("generate", credential=json.dumps(given).encode(), key=key)
        assert vault.call("query")["credentials"][0]["device_type"] == "cross-platform"


@pytest.mark.soak  # fills the largest vault row by row
def test_a_vault_never_outgrows_what_can_be_loaded(vault, key):
    value = "x" * 16_000
    given = {"filter": "resource:tokens action:create", "args": {"kind": "k", "value": value}}
    rows = 0
    while (answer := vault.call("exec", **given))["success"]:
        rows += 1
        assert rows * len(value) < LARGEST
    assert answer["error"] == "value_too_large"
    assert rows * len(value) > LARGEST * 0.9
    database = vault.call("lock")["database"]
    assert len(base64.b64decode(database)) <= LARGEST
    with Enclave() as second:
        assert second.call("load", database=database, key=key)["success"] is True
        assert denied(second, "tokens", "create", kind="k", value=value) == "value_too_large"
        last = done(second, "tokens", "list", offset=rows - 1, limit=10)
        assert [row["value"] for row in last] == [value]
        exported = second.call("export", password="pw")
        with Enclave() as third:
            assert third.call("import", data=exported["data"], password="pw", key=key)["success"] is True
            done(third, "tokens", "delete", id=last[0]["id"])
            done(third, "tokens", "create", kind="k", value=value)
            third.call("save")
        with Enclave() as fourth:
            pair(second, fourth, key)


@pytest.mark.parametrize(
    "value", [{"/": "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"}, {"/": {"bytes": "AAAA"}}, {"/": 1}]
)
def test_a_map_that_json_would_show_as_something_else_is_refused(enclave, value):
    """DAG-JSON reserves maps with the single key "/"; if returned unchanged, they could be taken for links or bytes."""
    assert refused(enclave, "dag_cbor_decode", data=dag_cbor.encode([value])) == "invalid_field"
    shown = enclave.call("dag_cbor_decode", data=dag_cbor.encode({"/": 1, "a": 2}))["value"]
    assert shown == {"/": 1, "a": 2}


def test_the_key_of_the_did_is_never_deleted(vault):
    """The DID's key is never deleted, because nothing else controls the DID. Other keys go once unreferenced."""
    first = done(vault, "enclaves", "list")[0]["enclave_id"]
    second = done(vault, "enclaves", "create", curve="secp256k1")["enclave_id"]
    account = done(vault, "accounts", "derive", enclave_id=second)["id"]
    assert denied(vault, "enclaves", "delete", id=second) == "conflict"
    for resource in ("accounts", "verification_methods"):
        for row in done(vault, resource, "list"):
            done(vault, resource, "delete", id=row["id"])
    assert account not in str(done(vault, "accounts", "list"))
    done(vault, "enclaves", "delete", id=second)
    assert denied(vault, "enclaves", "delete", id=first) == "conflict"
    assert [row["enclave_id"] for row in done(vault, "enclaves", "list")] == [first]


def test_without_a_time_nothing_is_taken_for_valid(credential, key):
    """An invalid clock reading must not count as the year 1970, in which nothing has expired yet."""
    now = [1.7e9]
    with Enclave(now=lambda: now[0], after=lambda _seconds, _work: lambda: None) as enclave:
        enclave.call("generate", credential=credential, key=key)
        row = done(enclave, "sessions", "create", name="n", expires_at="2030-01-01T00:00:00Z")
        token = done(enclave, "delegations", "create", to="did:web:example.org", command="/accounts")
        assert done(enclave, "sessions", "verify", id=row["id"])["valid"] is True
        now[0] = math.nan
        assert denied(enclave, "sessions", "verify", id=row["id"]) == "clock_unavailable"
        listed = enclave.call("exec", filter="resource:accounts action:list", token=token["signed_dag_cbor"])
        assert listed["error"] == "clock_unavailable"
        assert denied(enclave, "invocations", "create", command="/accounts/list") == "clock_unavailable"
        for function, given in (("verify_ucan", {"token": token["signed_dag_cbor"]}), ("sync_init", {})):
            assert refused(enclave, function, **given) == "clock_unavailable"
