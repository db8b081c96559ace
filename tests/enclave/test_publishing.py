"""The publishing key: created before the vault, stored in it, bound to its DID, and used only for IPNS records."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.credentials import KEY
from tests.support.enclave_calls import denied, done, refused
from tests.support.linear_memory import assert_absent, forms
from tests.support.pairing_by_hand import pair
from tests.support.sealed_vaults import OLD, OLD_DID, edited, opened, rows_in, sealed

from holdfast.enclave import Enclave, PluginCallError

SECRET = base64.b64decode(KEY["secret"])
SERVICE = "did:web:keep.example"
SNAPSHOT = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq"
RECORD = {"root_cid": SNAPSHOT, "sequence": 1, "validity": "2090-01-01T00:00:00.000000000Z", "ttl_ns": 60 * 10**9}


def public_of(enclave):
    return str(enclave.call("publishing_key")["public_key"])


def seed_in(database):
    """Return the seed of the publishing key in an unencrypted database."""
    ((data, nonce, key),) = rows_in(database, "SELECT sealed, nonce, key FROM publishing_keys")
    return AESGCM(key).decrypt(nonce, data, b"holdfast/publishing-key/v1")


def test_generate_adopts_the_key_that_was_shown_before_also_after_one_that_fails(enclave, credential, key):
    before = enclave.call("publishing_key")
    assert before["pending"] is True
    for fields in ({"credential": b"{}", "key": key}, {"credential": credential}):
        with pytest.raises(PluginCallError):
            enclave.call("generate", **fields)
        assert enclave.call("publishing_key") == before
    made = enclave.call("generate", credential=credential, key=key)
    assert enclave.call("publishing_key") == {**before, "pending": False}
    database = opened(base64.b64decode(made["database"]), SECRET)
    with Enclave() as again:
        assert again.call("load", database=made["database"], key=key)["success"] is True
        assert public_of(again) == before["public_key"]
        assert again.call("status")["unsaved"] is False
    assert len(seed_in(database)) == 32


def test_another_vault_takes_the_place_of_the_waiting_key(vault, key):
    wanted = public_of(vault)
    saved, exported = vault.call("save")["database"], vault.call("export", password="pw")["data"]
    for name, fields in (
        ("load", {"database": saved, "key": key}),
        ("unlock", {"database": saved, "key": key}),
        ("import", {"data": exported, "password": "pw", "key": key}),
    ):
        with Enclave() as other:
            waiting = public_of(other)
            assert other.call(name, **fields)["success"] is True
            assert public_of(other) == wanted != waiting
    with Enclave() as paired:
        public_of(paired)
        pair(vault, paired, key)
        assert public_of(paired) == wanted


def test_nothing_of_the_seed_stays_in_memory(enclave, credential, key):
    public_of(enclave)
    made = enclave.call("generate", credential=credential, key=key)
    enclave.call("publish", **RECORD)
    seed = seed_in(opened(base64.b64decode(made["database"]), SECRET))
    expanded = hashlib.sha512(seed).digest()
    enclave.call("lock")
    assert_absent(enclave, forms("seed", seed) | {"scalar": expanded[:16], "prefix": expanded[32:]})


def test_an_older_vault_gets_its_key_when_it_is_asked_for_one():
    with Enclave() as old:
        assert old.call("load", database=sealed(OLD, OLD_DID.encode(), SECRET), key=KEY)["success"] is True
        old.call("save")
        assert old.call("status")["unsaved"] is False
        first = old.call("publishing_key")
        assert (first["pending"], old.call("status")["unsaved"]) == (False, True)
        saved = old.call("save")["database"]
    with Enclave() as again:
        assert again.call("load", database=saved, key=KEY)["success"] is True
        assert again.call("publishing_key") == first


def test_publishing_changes_nothing_in_the_vault(vault):
    """If publishing changed the vault, each published snapshot would require another one."""
    public_of(vault)
    vault.call("publishing_delegation")
    vault.call("save")
    vault.call("publish", **RECORD)
    vault.call("publishing_delegation")
    vault.call("mint_ucan", kind="invocation", command="/snapshots/write", audience=SERVICE, record=False)
    assert vault.call("status")["unsaved"] is False


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_the_delegation_binds_the_key_to_the_did(credential, key, curve):
    with Enclave() as vault, Enclave() as stranger:
        vault.call("generate", credential=credential, key=key, curve=curve)
        bound = vault.call("publishing_delegation")
        shown = vault.call("publishing_key")
        demand = {"command": "/snapshots/publish", "audience": shown["did"], "subject": vault.call("status")["did"]}
        claims = stranger.call("verify_ucan", token=bound["container"], **demand)
        assert (claims["kind"], claims["valid"], claims["policy"]) == ("delegation", True, [])
        assert "expiration" not in claims or claims["expiration"] is None
        assert claims["issuer"] == bound["issuer"]
        assert claims["cid"] == bound["cid"]
        with pytest.raises(PluginCallError, match="audience"):
            stranger.call("verify_ucan", token=bound["container"], **{**demand, "audience": SERVICE})


def test_the_delegation_is_made_once_and_again_after_a_revocation(vault):
    first = vault.call("publishing_delegation")
    assert vault.call("publishing_delegation") == first
    done(vault, "delegations", "revoke", cid=first["cid"])
    second = vault.call("publishing_delegation")
    assert second["cid"] != first["cid"]
    assert vault.call("publishing_delegation") == second


@pytest.mark.parametrize(
    "limit",
    [{"expiration": 4_000_000_000}, {"not_before": 1}, {"policy": [["==", ".a", 1]]}, {"command": "/snapshots"}],
)
def test_a_limited_delegation_is_not_taken_for_it(vault, limit):
    did = vault.call("publishing_key")["did"]
    limited = vault.call("mint_ucan", **{"to": did, "command": "/snapshots/publish", **limit})
    assert vault.call("publishing_delegation")["cid"] != limited["cid"]


def test_without_its_second_share_the_vault_asks_for_it(credential, key):
    with Enclave() as vault:
        made = vault.call("generate", credential=credential, key=key, keep_val_share=False)
        with pytest.raises(PluginCallError, match="val_share"):
            vault.call("publishing_delegation")
        share = made["encrypted_shares"]["val_share"]
        first = vault.call("publishing_delegation", val_share=share)
        assert vault.call("publishing_delegation") == first  # recorded, so nothing is signed again
        assert vault.call("publish", **RECORD)["record"]


@pytest.mark.parametrize(
    ("change", "code"),
    [({"audience": None}, "missing_field"), ({"after": 601}, "invalid_field"), ({"after": 600}, None)],
)
def test_an_invocation_without_record_is_short(credential, key, change, code):
    now = 1_800_000_000
    fields = {"kind": "invocation", "command": "/snapshots/write", "audience": SERVICE, "record": False, **change}
    if (after := fields.pop("after", None)) is not None:
        fields["expiration"] = now + after
    with Enclave(now=lambda: now) as vault:
        vault.call("generate", credential=credential, key=key)
        if code is None:
            assert vault.call("mint_ucan", **fields)["container"]
            return
        assert refused(vault, "mint_ucan", **fields) == code


def test_no_token_reaches_the_key(vault):
    """The publishing key is not a resource: no action lists it, signs arbitrary data with it, or deletes it."""
    vault.call("publishing_key")
    assert [row["curve"] for row in done(vault, "enclaves", "list")] == ["P-256"]
    for resource in ("publishing_keys", "publishing_key", "publish", "snapshots"):
        assert denied(vault, resource, "list").startswith("unknown_action")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("public_key = zeroblob(32)", "key_mismatch"),
        ("sealed = zeroblob(48)", "share_rejected"),
        ("nonce = zeroblob(12)", "share_rejected"),
    ],
)
def test_a_key_that_was_changed_in_the_database_signs_nothing(vault, generated, key, tmp_path, change, code):
    public_of(vault)
    database = opened(base64.b64decode(vault.call("save")["database"]), SECRET)
    changed = edited(database, tmp_path / "db", f"UPDATE publishing_keys SET {change}")
    with Enclave() as other:
        resealed = sealed(changed, generated["did"].encode(), SECRET)
        assert other.call("load", database=resealed, key=key)["success"] is True
        for name, fields in (("publishing_key", {}), ("publish", RECORD), ("publishing_delegation", {})):
            assert refused(other, name, **fields) == code
