"""The vault's life cycle: sealing, keys that open it, locking, resources, tokens, export and import."""

import base64
import hashlib
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.credentials import KEY
from tests.support.sealed_vaults import data_key, opened, opens_with

from holdfast.enclave import Enclave, PluginCallError

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = {
    *("accounts", "credentials", "sessions", "grants", "enclaves", "delegations", "ucans", "verification_methods"),
    *("services", "service_configs", "tokens", "invocations", "sync", "oidc"),
}
OTHER_KEY = {"kind": "prf", "id": "passkey", "secret": base64.b64encode(bytes(range(32, 64))).decode()}


def run(vault, resource, action, **args):
    answer = vault.call("exec", filter=f"resource:{resource} action:{action}", args=args)
    assert answer["success"], answer
    return answer["result"]


def refused(vault, resource, action, **args):
    answer = vault.call("exec", filter=f"resource:{resource} action:{action}", args=args)
    assert answer["success"] is False, answer
    return str(answer["error"])


def test_status_before_anything(enclave):
    assert enclave.call("status") == {"locked": True, "initialized": False, "idle_seconds": 900}
    for function in ("query", "save", "list_wraps"):
        with pytest.raises(PluginCallError) as error:
            enclave.call(function, did="")
        assert error.value.code == "vault_uninitialized"
    assert enclave.call("lock") == {"success": False, "error": "vault_uninitialized"}


def test_lock_and_unlock(vault, generated, key):
    run(vault, "services", "create", type="relay", endpoint="https://relay.example", id="relay")
    locked = vault.call("lock")
    assert locked["success"] is True
    status = vault.call("status")
    assert (status["locked"], status["initialized"], status["did"]) == (True, True, generated["did"])
    with pytest.raises(PluginCallError) as error:
        vault.call("sign", digest=bytes(32))
    assert error.value.code == "vault_locked"
    assert vault.call("unlock") == {"success": False, "error": "key_required"}
    wrong = {**key, "secret": base64.b64encode(bytes(32)).decode()}
    assert vault.call("unlock", key=wrong) == {"success": False, "error": "wrong_key"}
    assert vault.call("unlock", key=key) == {"success": True, "did": generated["did"]}
    assert run(vault, "services", "get", id="relay")["endpoint"] == "https://relay.example"
    with Enclave() as second:
        assert second.call("load", database=locked["database"]) == {"success": True, "did": generated["did"]}
        assert second.call("status")["locked"] is True
        assert second.call("unlock", database=locked["database"], key=key)["success"] is True
        assert run(second, "services", "list")[0]["id"] == "relay"


def test_every_save_has_its_own_nonce_and_revision(vault):
    first, second = vault.call("save"), vault.call("save")
    assert second["revision"] == first["revision"] + 1
    one, two = base64.b64decode(first["database"]), base64.b64decode(second["database"])
    assert one[24:36] != two[24:36]
    assert struct.unpack(">Q", two[8:16])[0] == second["revision"]


def test_a_revision_older_than_the_last_one_seen_is_refused(vault, key):
    old, new = vault.call("save"), vault.call("save")
    with Enclave() as second:
        answer = second.call("load", database=old["database"], key=key, min_revision=new["revision"])
        assert answer == {"success": False, "error": "stale_revision"}
        assert second.call("load", database=new["database"], key=key, min_revision=new["revision"])["success"]


def test_each_changed_byte_of_the_sealed_database_is_noticed(vault, key):
    sealed = bytearray(base64.b64decode(vault.call("save")["database"]))
    header = len(sealed) - struct.unpack(">Q", sealed[36:44])[0]
    for position in [*range(header), header, header + 1000, len(sealed) - 1]:
        changed = bytearray(sealed)
        changed[position] ^= 1
        with Enclave() as second:
            answer = second.call("load", database=bytes(changed), key=key)
            assert answer["success"] is False, position
            assert answer["error"] in {"invalid_database", "unsupported_version", "wrong_key"}, position
            assert second.call("status")["locked"] is True


def test_wraps(vault, key):
    assert vault.call("list_wraps") == {"wraps": [{"kind": "secret", "id": ""}]}
    with pytest.raises(PluginCallError) as error:
        vault.call("remove_wrap", kind="secret")
    assert error.value.code == "last_wrap"
    vault.call("add_wrap", key=OTHER_KEY)
    with pytest.raises(PluginCallError) as error:
        vault.call("add_wrap", key=OTHER_KEY)
    assert error.value.code == "conflict"
    vault.call("add_wrap", key={"kind": "password", "password": "correct horse"})
    database = vault.call("save")["database"]
    for each in (key, OTHER_KEY, {"kind": "password", "password": "correct horse"}):
        with Enclave() as second:
            assert second.call("load", database=database, key=each)["success"] is True
    vault.call("remove_wrap", kind="secret")
    database = vault.call("save")["database"]
    with Enclave() as second:
        assert second.call("load", database=database, key=key)["error"] == "wrong_key"
        assert second.call("load", database=database, key=OTHER_KEY)["success"] is True


def test_a_removed_key_opens_nothing_of_what_follows_under_another_data_key(vault, key):
    password = {"kind": "password", "id": "words", "password": "correct horse"}
    vault.call("add_wrap", key=OTHER_KEY)
    vault.call("add_wrap", key=password)
    before = base64.b64decode(vault.call("save")["database"])
    stolen = data_key(before, b"passkey", bytes(range(32, 64)), "prf")
    assert opens_with(before, stolen)
    for keys, code in (
        ([key], "key_required"),
        ([key, {**password, "password": "wrong"}], "wrong_key"),
        ([key, password, OTHER_KEY], "key_required"),
        ([key, key], "key_required"),
        ([None], "invalid_field"),
    ):
        with pytest.raises(PluginCallError) as error:
            vault.call("remove_wrap", kind="prf", id="passkey", keys=keys)
        assert error.value.code == code
    unchanged = base64.b64decode(vault.call("save")["database"])
    assert opens_with(unchanged, stolen)
    left = vault.call("remove_wrap", kind="prf", id="passkey", keys=[password, key])["wraps"]
    assert left == [{"kind": "secret", "id": ""}, {"kind": "password", "id": "words"}]
    after = base64.b64decode(vault.call("save")["database"])
    assert not opens_with(after, stolen)
    for remaining in (key, password):
        with Enclave() as second:
            assert second.call("load", database=after, key=remaining)["success"] is True
    with Enclave() as second:
        assert second.call("load", database=after, key=OTHER_KEY)["error"] == "wrong_key"


def test_status_says_whether_there_is_something_to_save(vault):
    def unsaved():
        return bool(vault.call("status")["unsaved"])

    assert unsaved() is False  # as in the response of `generate`
    run(vault, "credentials", "list")
    assert refused(vault, "services", "get", id="nothing") == "not_found: services"
    created = {"id": "relay", "type": "t", "endpoint": "https://relay.example"}
    assert refused(vault, "accounts", "create", **created)
    assert unsaved() is False
    run(vault, "services", "create", **created)
    assert unsaved() is True
    assert refused(vault, "services", "create", **created) == "conflict"
    assert unsaved() is True
    vault.call("save")
    assert refused(vault, "services", "create", **created) == "conflict"
    assert unsaved() is False
    vault.call("add_wrap", key=OTHER_KEY)
    assert unsaved() is True
    vault.call("save")
    vault.call("remove_wrap", kind="prf", id="passkey")
    assert unsaved() is True
    exported = vault.call("export", password="correct horse")["data"]
    vault.call("lock")
    assert "unsaved" not in vault.call("status")
    with Enclave() as second:
        second.call("import", data=exported, password="correct horse", key=OTHER_KEY)
        assert second.call("status")["unsaved"] is True


def test_it_locks_itself_when_idle(credential, key):
    now = [1_700_000_000.0]
    with Enclave(now=lambda: now[0]) as vault:
        vault.call("generate", credential=credential, key=key)
        vault.call("set_auto_lock", idle_seconds=60)
        run(vault, "services", "create", id="kept", type="t", endpoint="e")
        now[0] += 59
        vault.call("query", did="")
        now[0] += 59
        assert vault.call("status")["locked"] is False
        now[0] += 2
        assert vault.call("status")["locked"] is True
        assert vault.call("unlock", key=key)["success"] is True
        assert run(vault, "services", "get", id="kept")["type"] == "t"  # unsaved changes were sealed first


def test_query(vault, generated):
    answer = vault.call("query", did="")
    did = generated["did"]
    assert answer["did"] == answer["controller"] == did
    (method,) = answer["verification_methods"]
    assert set(method) == {"id", "type", "controller", "public_key", "purpose"}
    assert method["id"] == f"{did}#key-1"
    compressed = base64.b64decode(method["public_key"])
    assert compressed[1:].hex() == generated["pubkey_x"]
    (account,) = answer["accounts"]
    documented = {"address", "chain_id", "coin_type", "account_index", "address_index", "label", "is_default"}
    assert set(account) == documented
    assert account["is_default"] is True
    (credential,) = answer["credentials"]
    assert set(credential) == {
        *("credential_id", "device_name", "device_type", "authenticator", "transports", "created_at", "last_used")
    }
    assert credential["transports"] == ["internal"]
    assert credential["device_type"] == "platform"
    with pytest.raises(PluginCallError) as error:
        vault.call("query", did="did:new:0x00")
    assert error.value.code == "not_found"


@pytest.mark.parametrize(
    "filter_",
    [
        *("", "resource:accounts", "action:list", "resource:accounts  action:list", " resource:accounts action:list"),
        *("resource:accounts action:list ", "resource:Accounts action:list", "resource: action:list"),
        *("resource:accounts resource:accounts", "resource:accounts action:list x:y", "resource:accounts,action:list"),
        *("resource:accounts\taction:list", "resource=accounts action=list", "resource:accounts action:list;"),
    ],
)
def test_only_the_filters_grammar_is_taken(vault, filter_):
    assert vault.call("exec", filter=filter_) == {"success": False, "error": "invalid_filter"}


def test_the_filter_in_either_order(vault):
    one = vault.call("exec", filter="resource:accounts action:list")
    assert one == vault.call("exec", filter="action:list resource:accounts")
    assert len(one["result"]) == 1


def test_unknown_names_say_what_is_possible(vault):
    answer = vault.call("exec", filter="resource:nothing action:list")["error"]
    code, _, names = answer.partition(": resources are ")
    assert code == "unknown_action"
    assert set(names.split()) == RESOURCES
    assert refused(vault, "accounts", "explode").startswith("unknown_action: accounts has list get create")


def test_the_tables_are_strict_and_their_keys_foreign(generated):
    """The database has one table per resource and four more; foreign keys record what each row belongs to."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(opened(base64.b64decode(generated["database"]), base64.b64decode(KEY["secret"])))
    listed = connection.execute("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'")
    assert dict(listed.fetchall()) == dict.fromkeys(RESOURCES | {"meta", "migrations", "seeds", "publishing_keys"}, 1)
    query = 'SELECT "from", "table" FROM pragma_foreign_key_list(?)'
    belongs = {name: dict(connection.execute(query, (name,)).fetchall()) for name in RESOURCES}
    connection.close()
    assert {name: keys for name, keys in belongs.items() if keys} == {
        "accounts": {"enclave_id": "enclaves"},
        "sessions": {"credential_id": "credentials"},
        "grants": {"session_id": "sessions"},
        "verification_methods": {"enclave_id": "enclaves"},
        "service_configs": {"service_id": "services"},
        "tokens": {"service_id": "services"},
    }


CREATED = {
    "accounts": {"address": "0x" + "00" * 20, "chain_id": "1", "label": "second"},
    "credentials": {"credential_id": "AAAA", "device_name": "key", "device_type": "cross-platform"},
    "sessions": {"name": "browser", "expires_at": "2030-01-01T00:00:00Z"},
    "grants": {"grantee": "did:key:zabc", "command": "/accounts/list"},
    "verification_methods": {
        "id": "did:new:0x1#key-2",
        "type": "T",
        "controller": "c",
        "public_key": "k",
        "purpose": "p",
    },
    "services": {"type": "relay", "endpoint": "https://relay.example"},
    "tokens": {"kind": "bearer", "value": "secret"},
    "sync": {"role": "initiator", "status": "done"},
    "oidc": {"issuer": "https://idp.example", "client_id": "c", "scopes": ["openid"]},
}
CHANGED = {
    "accounts": {"label": "third"},
    "credentials": {"device_name": "other"},
    "sessions": {"name": "phone"},
    "grants": {"expires_at": "2031-01-01T00:00:00.000Z"},
    "verification_methods": {"purpose": "assertionMethod"},
    "services": {"endpoint": "https://other.example"},
    "tokens": {"value": "rotated"},
    "sync": {"status": "over"},
    "oidc": {"scopes": ["openid", "email"]},
}


@pytest.mark.parametrize("resource", sorted(CREATED))
def test_create_get_list_update_delete(vault, resource):
    row = run(vault, resource, "create", **CREATED[resource])
    key = "credential_id" if resource == "credentials" else "id"
    for name, value in CREATED[resource].items():
        assert row[name] == value
    assert run(vault, resource, "get", id=row[key]) == row
    assert row in run(vault, resource, "list")
    changed = run(vault, resource, "update", id=row[key], **CHANGED[resource])
    assert changed == {**row, **CHANGED[resource]}
    assert refused(vault, resource, "create", **{**CREATED[resource], key: row[key]}) == "conflict"
    assert run(vault, resource, "delete", id=row[key]) == {"deleted": row[key]}
    for action in ("get", "delete"):
        assert refused(vault, resource, action, id=row[key]).startswith("not_found")


def test_service_configs_belong_to_a_service(vault):
    assert refused(vault, "service_configs", "create", service_id="none", name="n", value="v") == "conflict"
    service = run(vault, "services", "create", type="t", endpoint="e")["id"]
    row = run(vault, "service_configs", "create", service_id=service, name="n", value="v")
    assert run(vault, "service_configs", "update", id=row["id"], value="w")["value"] == "w"
    run(vault, "services", "delete", id=service)
    assert run(vault, "service_configs", "list") == []


def test_what_cannot_change_is_refused(vault):
    row = run(vault, "services", "create", type="t", endpoint="e")
    assert refused(vault, "services", "update", id=row["id"], type="u") == "invalid_field: type"
    assert refused(vault, "services", "update", id=row["id"]).startswith("missing_field")
    assert refused(vault, "sessions", "create", expires_at="tomorrow") == "invalid_field: expires_at"


def test_sessions_and_tokens_expire_and_are_revoked(credential, key):
    now = [1_700_000_000.0]
    with Enclave(now=lambda: now[0]) as vault:
        vault.call("generate", credential=credential, key=key)
        for resource, fields in (("sessions", {}), ("tokens", {"kind": "k", "value": "v"})):
            row = run(vault, resource, "create", **fields, expires_at="2023-11-14T22:13:30Z")["id"]
            assert run(vault, resource, "verify", id=row) == {"valid": True}
            now[0] += 100
            assert run(vault, resource, "verify", id=row) == {"valid": False, "reason": "expired"}
            run(vault, resource, "refresh", id=row, expires_at="2030-01-01T00:00:00Z")
            assert run(vault, resource, "verify", id=row) == {"valid": True}
            run(vault, resource, "revoke", id=row)
            assert run(vault, resource, "verify", id=row) == {"valid": False, "reason": "revoked"}
            assert refused(vault, resource, "refresh", id=row, expires_at="2031-01-01T00:00:00Z").startswith("conflict")
            now[0] -= 100


def test_accounts_have_one_default(vault):
    first = run(vault, "accounts", "list")[0]["id"]
    second = run(
        vault,
        "accounts",
        "derive",
        chain_id="8453",
        label="other",
        salt=1,
        factory="0x" + "11" * 20,
        implementation="0x" + "22" * 20,
    )
    assert second["is_default"] is False
    assert run(vault, "accounts", "set_default", id=second["id"])["is_default"] is True
    assert run(vault, "accounts", "get", id=first)["is_default"] is False
    assert refused(vault, "accounts", "set_default", id="none").startswith("not_found")
    assert run(vault, "accounts", "get", id=second["id"])["is_default"] is True
    digest = hashlib.sha256(b"x").digest()
    signed = run(vault, "accounts", "sign", id=second["id"], digest=digest.hex())
    public = run(vault, "enclaves", "list")[0]["public_key"]
    checked = vault.call("verify_signature", public_key=public, digest=digest, signature=signed["signature"])
    assert checked == {"valid": True}


def test_enclaves_show_no_share_and_no_key(vault, generated):
    (row,) = run(vault, "enclaves", "list")
    assert set(row) == {"enclave_id", "curve", "public_key", "generation", "created_at"}
    made = run(vault, "enclaves", "create", curve="secp256k1")
    assert made["curve"] == "secp256k1"
    run(vault, "enclaves", "sign", enclave_id=made["enclave_id"], digest="00" * 32)
    run(vault, "enclaves", "refresh", enclave_id=made["enclave_id"])
    run(vault, "enclaves", "rotate", enclave_id=made["enclave_id"])
    assert run(vault, "enclaves", "get", id=made["enclave_id"])["generation"] == 2
    run(vault, "enclaves", "delete", id=made["enclave_id"])
    assert refused(vault, "enclaves", "delete", id=generated["enclave_id"]) == "conflict"


def test_a_failed_action_leaves_nothing_behind(vault):
    before = vault.call("query", did="")
    assert refused(vault, "accounts", "derive", chain_id="84532").startswith("conflict")
    assert vault.call("query", did="")["credentials"] == before["credentials"]
    assert run(vault, "accounts", "list")


def did_key(vault):
    point = run(vault, "enclaves", "list")[0]["public_key"]
    compressed = bytes([2 + int(point[-1], 16) % 2]) + bytes.fromhex(point[2:66])
    return str(vault.call("did_key", public_key=compressed, curve="P-256")["did"])


def test_a_token_lets_its_bearer_do_what_it_says(vault, credential, key):
    with Enclave() as bearer:
        bearer.call("generate", credential=credential, key=key)
        audience = did_key(bearer)
        minted = vault.call("mint_ucan", to=audience, command="/services", caveats={"type": "relay"})

        def attempt(filter_, **more):
            answer = vault.call("exec", filter=filter_, token=minted["signed_dag_cbor"], **more)
            return "ok" if answer["success"] else str(answer["error"]).split(":")[0]

        create = "resource:services action:create"
        relay = {"type": "relay", "endpoint": "e"}
        assert attempt(create, args=relay) == "ok"
        assert attempt(create, args=relay, audience=audience) == "ok"
        assert (
            attempt(create, args=relay, audience="did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")
            == "wrong_audience"
        )
        assert attempt(create, args={**relay, "type": "other"}) == "policy_denied"
        assert attempt("resource:tokens action:list") == "command_denied"
        invoked = bearer.call("invoke_ucan", command="/services/create", args=relay, token=minted["signed_dag_cbor"])
        container = bundle(invoked["signed_dag_cbor"], minted["signed_dag_cbor"])
        answer = vault.call("exec", filter=create, args=relay, token=container)
        assert answer["success"], answer
        run(vault, "delegations", "revoke", id=minted["cid"])
        assert attempt(create, args=relay) == "token_revoked"


def bundle(*tokens):
    import cbor2

    return b"B" + base64.b64encode(cbor2.dumps({"ctn-v1": [base64.b64decode(token) for token in tokens]}))


def test_tokens_of_another_vault_open_nothing_here(vault, credential, key):
    with Enclave() as other:
        other.call("generate", credential=credential, key=key)
        token = other.call("mint_ucan", to=did_key(other), command="/")["signed_dag_cbor"]
        answer = vault.call("exec", filter="resource:accounts action:list", token=token)
        assert answer["success"] is False
        assert answer["error"].split(":")[0] == "wrong_subject"


def test_time_bounds_of_a_token(credential, key):
    now = [1_700_000_000.0]
    with Enclave(now=lambda: now[0]) as vault:
        vault.call("generate", credential=credential, key=key)
        token = vault.call(
            "mint_ucan",
            to=did_key(vault),
            command="/accounts",
            expiration=1_700_000_100,
            not_before=1_700_000_050,
        )["signed_dag_cbor"]
        told = []
        for moment in (0, 60, 200):
            now[0] = 1_700_000_000.0 + moment
            answer = vault.call("exec", filter="resource:accounts action:list", token=token)
            told.append(answer.get("error", "ok"))
        assert told == ["token_not_yet_valid", "ok", "token_expired"]


def test_received_and_minted_tokens_are_kept_and_verified(vault, credential, key):
    with Enclave() as other:
        other.call("generate", credential=credential, key=key)
        minted = other.call("mint_ucan", to=did_key(vault), command="/accounts")
        row = run(vault, "ucans", "create", token=minted["signed_dag_cbor"])
        assert row["cid"] == minted["cid"]
        assert run(vault, "ucans", "verify", cid=row["cid"])["valid"] is True
        run(vault, "ucans", "revoke", id=row["cid"])
        assert refused(vault, "ucans", "verify", cid=row["cid"]) == "token_revoked"
    delegation = run(vault, "delegations", "delegate", to=did_key(vault), command="/accounts/list")
    assert run(vault, "delegations", "verify", cid=delegation["cid"])["command"] == "/accounts/list"
    invocation = run(vault, "invocations", "create", command="/accounts/list", args={})
    assert run(vault, "invocations", "verify", cid=invocation["cid"])["valid"] is True
    assert run(vault, "invocations", "get", id=invocation["cid"])["command"] == "/accounts/list"


def test_export_and_import(vault, generated, key):
    run(vault, "services", "create", id="relay", type="t", endpoint="e")
    exported = vault.call("export", password="correct horse")
    assert exported["success"] is True
    assert exported["did"] == generated["did"]
    assert base64.b64decode(exported["data"])[:4] == b"MTRV"
    with Enclave() as second:
        assert second.call("import", data=exported["data"], password="wrong") == {
            "success": False,
            "error": "export_rejected",
        }
        assert second.call("status")["initialized"] is False
        answer = second.call("import", data=exported["data"], password="correct horse", key=key)
        assert answer == {"success": True, "did": generated["did"], "accounts": 1, "credentials": 1}
        assert run(second, "services", "get", id="relay")["type"] == "t"
        digest = hashlib.sha256(b"x").digest()
        signature = second.call("sign", digest=digest)["signature"]
        valid = second.call("verify_signature", public_key=generated["public_key"], digest=digest, signature=signature)
        assert valid == {"valid": True}
        assert second.call("save")["revision"] == 1
    with Enclave() as third:
        assert third.call("import", data=exported["data"], password="correct horse")["success"] is True
        with pytest.raises(PluginCallError) as error:
            third.call("save")
        assert error.value.code == "key_required"
        third.call("add_wrap", key=OTHER_KEY)
        assert third.call("save")["revision"] == 1


def test_a_damaged_export_is_refused(vault):
    data = base64.b64decode(vault.call("export", password="pw")["data"])

    def told(changed):
        with Enclave() as second:
            answer = second.call("import", data=changed, password="pw")
            assert answer["success"] is False
            assert second.call("status")["initialized"] is False
            return str(answer["error"])

    def at(position, *values):
        return data[:position] + bytes(values) + data[position + len(values) :]

    assert told(at(0, 0x58)) == "invalid_format"
    assert told(at(4, 2)) == "unsupported_version"
    assert told(at(5, 2)) == "unsupported_version"
    assert told(at(7, 1)) == "unsupported_version"
    assert told(at(8, 0xFF, 0xFF, 0xFF, 0xFF)) == "parameters_out_of_bounds"
    assert told(at(12, 0, 0, 0, 200)) == "parameters_out_of_bounds"
    assert told(at(16, 0, 0, 0, 0)) == "parameters_out_of_bounds"
    assert told(data[:-1]) == "invalid_format"
    assert told(data + b"\0") == "invalid_format"
    assert told(data[:40]) == "invalid_format"
    for position in (20, 36, 60, len(data) - 1):
        assert told(at(position, data[position] ^ 1)) == "export_rejected"


def test_an_export_with_foreign_sql_or_orphan_rows_is_refused(vault):
    """A database with triggers or orphan rows must be refused, even if the sender knows the password."""

    from argon2.low_level import Type, hash_secret_raw
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = base64.b64decode(vault.call("export", password="pw")["data"])
    secret = hash_secret_raw(b"pw", data[20:36], 3, 65536, 4, 32, Type.ID)
    image = AESGCM(secret).decrypt(data[36:48], data[56:], data[:56])
    cheap = data[:8] + struct.pack(">III", 8192, 1, 4) + data[20:48]  # the cheapest parameters that an import accepts
    secret = hash_secret_raw(b"pw", data[20:36], 1, 8192, 4, 32, Type.ID)
    for sql in (
        "",
        "CREATE TRIGGER bad AFTER INSERT ON accounts BEGIN DELETE FROM credentials; END",
        "CREATE VIEW bad AS SELECT * FROM enclaves",
        "CREATE TABLE bad (x)",
        "CREATE INDEX bad ON accounts (label)",
        "CREATE INDEX bad ON accounts (upper(label))",
        "CREATE INDEX bad ON accounts (CAST(label AS INTEGER))",
        "CREATE VIEW bad AS SELECT row_number() OVER (PARTITION BY label ORDER BY id) FROM accounts",
        "CREATE VIEW bad AS WITH two AS (SELECT sum(2) FILTER (WHERE 1)) SELECT * FROM two",
        "CREATE TRIGGER bad AFTER INSERT ON accounts BEGIN INSERT INTO meta VALUES (1, 2) ON CONFLICT DO NOTHING; END",
        "DROP TABLE oidc",
        "PRAGMA user_version = 99",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 2",
        "DROP TABLE publishing_keys",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'did:new:0x" + "11" * 32 + "' WHERE key = 'did'",
        "DELETE FROM enclaves",
        "UPDATE accounts SET enclave_id = 'nobody'",
    ):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(image)
        connection.execute(sql)
        connection.commit()
        changed = connection.serialize()
        connection.close()
        header = cheap + struct.pack(">Q", len(changed) + 16)
        forged = header + AESGCM(secret).encrypt(header[36:48], changed, header)
        with Enclave() as second:
            answer = second.call("import", data=forged, password="pw")
            assert (answer["success"], answer.get("error")) == ((False, "export_rejected") if sql else (True, None)), (
                sql
            )
            assert second.call("status")["initialized"] is not bool(sql)


def test_a_stranger_reads_an_export(vault, generated, tmp_path):
    run(vault, "services", "create", id="relay", type="t", endpoint="e")
    file = tmp_path / "vault.mtrv"
    file.write_bytes(base64.b64decode(vault.call("export", password="correct horse")["data"]))
    reader = [sys.executable, str(ROOT / "tools" / "mtrv_reader.py"), str(file)]
    outcome = subprocess.run(reader, input="correct horse\n", capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert generated["did"] in outcome.stdout
    assert "relay" in outcome.stdout
    outcome = subprocess.run(reader, input="wrong\n", capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert "wrong password or damaged" in outcome.stderr
    text = (ROOT / "tools" / "mtrv_reader.py").read_text()
    assert len(text.splitlines()) < 200
    assert "holdfast." not in text
