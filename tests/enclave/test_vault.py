"""The vault's life cycle: sealing, keys that open it, locking, resources, tokens, export and import."""

import base64
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.credentials import KEY
from tests.support.enclave_calls import denied, done, refused
from tests.support.sealed_vaults import as_export, data_key, edited, opened, opens_with

from holdfast.enclave import Enclave

ROOT = Path(__file__).resolve().parents[2]
SECRET = base64.b64decode(KEY["secret"])
OTHER_KEY = {"kind": "prf", "id": "passkey", "secret": base64.b64encode(bytes(range(32, 64))).decode()}


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
        assert refused(vault, "remove_wrap", kind="prf", id="passkey", keys=keys) == code
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


def test_sessions_and_tokens_expire_and_are_revoked(credential, key):
    now = [1_700_000_000.0]
    with Enclave(now=lambda: now[0]) as vault:
        vault.call("generate", credential=credential, key=key)
        token = {"kind": "k", "value": "v", "expires_at": "2023-11-14T22:13:20.000Z"}
        for resource, fields in (("sessions", {"expires_at": "2023-11-14T22:13:20Z"}), ("tokens", token)):
            row = done(vault, resource, "create", **fields)["id"]
            assert done(vault, resource, "verify", id=row) == {"valid": True}, "in its last second"
            now[0] += 0.001
            assert done(vault, resource, "verify", id=row) == {"valid": False, "reason": "expired"}
            done(vault, resource, "refresh", id=row, expires_at="2030-01-01T00:00:00Z")
            assert done(vault, resource, "verify", id=row) == {"valid": True}
            done(vault, resource, "revoke", id=row)
            assert done(vault, resource, "verify", id=row) == {"valid": False, "reason": "revoked"}
            assert denied(vault, resource, "refresh", id=row, expires_at="2031-01-01T00:00:00Z").startswith("conflict")
            now[0] = 1_700_000_000.0
        assert denied(vault, "tokens", "rotate", id=row, value="another").startswith("conflict")


def test_an_export_with_foreign_sql_or_orphan_rows_is_refused(generated, tmp_path):
    """A database with triggers or orphan rows must be refused, even if the sender knows the password."""
    image = opened(base64.b64decode(generated["database"]), SECRET)
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
        forged = as_export(edited(image, tmp_path / "db", sql), b"pw")
        with Enclave() as second:
            answer = second.call("import", data=forged, password="pw")
            assert answer.get("error") == ("export_rejected" if sql else None), sql
            assert second.call("status")["initialized"] is not bool(sql)


def test_a_stranger_reads_an_export(vault, generated, tmp_path):
    done(vault, "services", "create", id="relay", type="t", endpoint="e")
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


def test_status_says_whether_there_is_something_to_save(vault):
    relay = {"id": "relay", "type": "t", "endpoint": "e"}

    def leaves(unsaved, work, *args, **fields):
        work(vault, *args, **fields)
        assert vault.call("status")["unsaved"] is unsaved

    leaves(False, done, "credentials", "list")
    leaves(False, denied, "accounts", "create", **relay)
    leaves(True, done, "services", "create", **relay)
    leaves(True, denied, "services", "create", **relay)
    leaves(False, Enclave.call, "save")
    leaves(False, denied, "services", "create", **relay)
    main = done(vault, "accounts", "list")[0]["id"]
    leaves(False, denied, "accounts", "derive", id=main, account_index=1)  # its key came, and went with the account
    leaves(True, Enclave.call, "add_wrap", key=OTHER_KEY)
    leaves(False, Enclave.call, "save")
    leaves(True, Enclave.call, "remove_wrap", kind="prf", id="passkey")
    exported = vault.call("export", password="correct horse")["data"]
    vault.call("lock")
    assert "unsaved" not in vault.call("status")
    with Enclave() as second:
        second.call("import", data=exported, password="correct horse", key=OTHER_KEY)
        assert second.call("status")["unsaved"] is True


def test_a_filter_is_read_in_either_order(vault):
    one = vault.call("exec", filter="resource:accounts action:list")
    assert one == vault.call("exec", filter="action:list resource:accounts")


ROWS = {  # of each resource: a row, and what an update changes
    "accounts": ({"address": "0x" + "00" * 20, "chain_id": "1", "label": "second"}, {"label": "third"}),
    "credentials": ({"credential_id": "AAAA", "device_type": "cross-platform"}, {"device_name": "other"}),
    "sessions": ({"name": "browser", "expires_at": "2030-01-01T00:00:00Z"}, {"name": "phone"}),
    "grants": ({"grantee": "did:key:zabc", "command": "/a"}, {"expires_at": "2031-01-01T00:00:00.000Z"}),
    "verification_methods": (
        {"id": "did:new:0x1#key-2", "type": "T", "controller": "c", "public_key": "k", "purpose": "p"},
        {"purpose": "assertionMethod"},
    ),
    "services": ({"type": "relay", "endpoint": "https://relay.example"}, {"endpoint": "https://other.example"}),
    "tokens": ({"kind": "bearer", "value": "secret"}, {"value": "rotated"}),
    "sync": ({"role": "initiator", "status": "done"}, {"status": "over"}),
    "oidc": ({"issuer": "https://i.example", "client_id": "c", "scopes": ["openid"]}, {"scopes": ["openid", "email"]}),
}


@pytest.mark.parametrize("resource", sorted(ROWS))
def test_create_get_list_update_delete(vault, resource):
    given, changes = ROWS[resource]
    row = done(vault, resource, "create", **given)
    key = row["credential_id" if resource == "credentials" else "id"]
    assert row == {**row, **given}
    assert done(vault, resource, "get", id=key) == row
    assert row in done(vault, resource, "list")
    assert done(vault, resource, "update", id=key, **changes) == {**row, **changes}
    named = "credential_id" if resource == "credentials" else "id"
    assert denied(vault, resource, "create", **{**given, named: key}) == "conflict"
    assert done(vault, resource, "delete", id=key) == {"deleted": key}
    for action in ("get", "delete"):
        assert denied(vault, resource, action, id=key).startswith("not_found")


def test_service_configs_belong_to_a_service(vault):
    given = {"name": "n", "value": "v"}
    assert denied(vault, "service_configs", "create", service_id="none", **given) == "conflict"
    service = done(vault, "services", "create", type="t", endpoint="e")["id"]
    row = done(vault, "service_configs", "create", service_id=service, **given)
    assert done(vault, "service_configs", "update", id=row["id"], value="w")["value"] == "w"
    done(vault, "services", "delete", id=service)
    assert done(vault, "service_configs", "list") == []


def test_accounts_have_one_default(vault):
    first = done(vault, "accounts", "list")[0]["id"]
    second = done(vault, "accounts", "derive", chain_id="8453", salt=1)
    assert second["is_default"] is False
    assert done(vault, "accounts", "set_default", id=second["id"])["is_default"] is True
    assert done(vault, "accounts", "get", id=first)["is_default"] is False
    assert denied(vault, "accounts", "set_default", id="none").startswith("not_found")
    assert done(vault, "accounts", "get", id=second["id"])["is_default"] is True


def test_the_sealed_database_opens_with_other_implementations(vault):
    vault.call("add_wrap", key={"kind": "password", "id": "pw", "password": "correct horse"})
    data = base64.b64decode(vault.call("save")["database"])
    assert data[:6] == b"HFDB\1\2", "version 1, two keys"
    shared = data_key(data, b"", SECRET)
    assert shared == data_key(data, b"pw", b"correct horse", "password")
    assert opens_with(data, shared)
    again = base64.b64decode(vault.call("save")["database"])
    assert again[24:36] != data[24:36], "every save has its own nonce"


def test_each_changed_byte_of_the_sealed_database_is_noticed(vault, key):
    sealed = base64.b64decode(vault.call("save")["database"])
    header = len(sealed) - struct.unpack(">Q", sealed[36:44])[0]
    with Enclave() as second:
        for position in [*range(header), header, len(sealed) - 1]:
            changed = sealed[:position] + bytes([sealed[position] ^ 1]) + sealed[position + 1 :]
            answer = second.call("load", database=changed, key=key)
            assert answer["error"] in {"invalid_database", "unsupported_version", "wrong_key"}, position
