"""A vault created elsewhere may contain anything: every call returns a well-formed response, and none traps."""

import base64
from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.credentials import KEY
from tests.support.enclave_calls import refused
from tests.support.sealed_vaults import edited, opened, rows_in, sealed

from holdfast.enclave import Enclave

SECRET = base64.b64decode(KEY["secret"])
LARGEST_REVISION = 2**53 - 1


@dataclass
class Made:
    did: bytes
    database: bytes


@pytest.fixture
def made(generated):
    return Made(generated["did"].encode(), opened(base64.b64decode(generated["database"]), SECRET))


def load(vault, **fields):
    enclave = Enclave()
    return enclave, enclave.call("load", database=vault, **fields)


def test_the_largest_revision_is_the_last(made):
    enclave, answer = load(sealed(made.database, made.did, SECRET, revision=LARGEST_REVISION), key=KEY)
    assert answer["success"] is True
    assert enclave.call("status")["revision"] == LARGEST_REVISION
    assert refused(enclave, "save") == "value_too_large"
    assert enclave.call("status")["revision"] == LARGEST_REVISION


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("revision", number) for number in (2**53, 2**63 - 1, 2**63, 2**64 - 1)),  # which JSON cannot carry
        *(("did", text) for text in (b"", b"\xff\xfe", b"did:new:\xed\xa0\x80")),
        ("wrap_id", b"\xff"),
    ],
)
def test_a_header_that_no_answer_could_show_or_a_vault_shorter_than_its_tag_is_refused(made, field, value):
    whole = sealed(made.database, secret=SECRET, **{"did": made.did, field: value})
    empty = sealed(b"", made.did, SECRET)
    for vault in (whole, empty[:36] + (15).to_bytes(8) + empty[44:-1]):
        for fields in ({}, {"key": KEY}):
            _, answer = load(vault, **fields)
            assert answer == {"success": False, "error": "invalid_database"}


@pytest.mark.parametrize("levels", [33, 20_000, 200_000])
def test_a_list_nested_deeper_than_answers_go_is_null(made, tmp_path, levels):
    deep = "[" * levels + "]" * levels
    database = edited(made.database, tmp_path / "db", "UPDATE credentials SET transports = ?", deep)
    enclave, answer = load(sealed(database, made.did, SECRET), key=KEY)
    assert answer["success"] is True
    (credential,) = enclave.call("exec", filter="resource:credentials action:list")["result"]
    assert credential["transports"] is None
    assert enclave.call("query")["did"] == made.did.decode()


def test_text_that_is_no_text_is_refused_not_shown_as_numbers(made, tmp_path):
    broken = "UPDATE credentials SET device_name = CAST(x'ff00fe' AS TEXT)"
    enclave, _ = load(sealed(edited(made.database, tmp_path / "db", broken), made.did, SECRET), key=KEY)
    answer = enclave.call("exec", filter="resource:credentials action:list")
    assert answer == {"success": False, "error": "database_failure"}
    assert enclave.call("sign", digest=bytes(32))["signature"]


def test_shares_of_another_key_do_not_sign(made, tmp_path):
    """The shares are sealed correctly and bound to the public key, but are shares of another key, so signing fails."""
    query = "SELECT public_key, val_share, val_key, nonce FROM enclaves"
    ((public, share, key, nonce),) = rows_in(made.database, query)
    binding = b"holdfast/share/v1/val\0" + public
    scalar = int.from_bytes(AESGCM(key).decrypt(nonce[:12], share, binding)) ^ 1
    other = AESGCM(key).encrypt(nonce[:12], scalar.to_bytes(32), binding)
    database = edited(made.database, tmp_path / "db", "UPDATE enclaves SET val_share = ?", other)
    enclave, _ = load(sealed(database, made.did, SECRET), key=KEY)
    assert refused(enclave, "sign", digest=bytes(32)) == "key_mismatch"


STRANGER = "did:new:0x" + "11" * 32


@pytest.mark.parametrize("shown", [STRANGER, "did:web:example.org", "did:new:0x", "did:new:"])
def test_a_vault_whose_did_is_not_of_its_keys_is_refused(made, tmp_path, shown):
    """If a vault with another person's DID were accepted, tokens from that person would control the vault."""
    database = edited(made.database, tmp_path / "db", "UPDATE meta SET value = ? WHERE key = 'did'", shown)
    for head in (shown.encode(), made.did):
        enclave, answer = load(sealed(database, head, SECRET), key=KEY)
        assert answer == {"success": False, "error": "invalid_database"}
        assert enclave.call("status")["locked"] is True
    _, answer = load(sealed(made.database, shown.encode(), SECRET), key=KEY)
    assert answer == {"success": False, "error": "invalid_database"}


NO_KEYS = ["DELETE FROM accounts", "DELETE FROM verification_methods", "DELETE FROM enclaves"]


@pytest.mark.parametrize(
    ("statements", "error"),
    [
        *(([f"PRAGMA user_version = {never}"], "unsupported_version") for never in (-1, -(2**31), 4, 2**31 - 1)),
        (["DELETE FROM meta WHERE key = 'did'"], "invalid_database"),
        (["UPDATE enclaves SET public_key = CAST(x'04' || zeroblob(64) AS BLOB)"], "invalid_database"),
        (["UPDATE enclaves SET curve = 'secp256k1'"], "invalid_database"),
        (NO_KEYS, "invalid_database"),
    ],
)
def test_a_version_that_never_was_or_a_vault_without_its_dids_key_is_refused(made, tmp_path, statements, error):
    database = made.database
    for statement in statements:
        database = edited(database, tmp_path / "db", statement)
    _, answer = load(sealed(database, made.did, SECRET), key=KEY)
    assert answer == {"success": False, "error": error}


def test_the_key_of_the_did_signs_wherever_its_row_stands(made, tmp_path):
    """The DID's key need not be in the first row: a key that a stranger inserts before it must not replace it."""
    with Enclave() as other:
        loaded = other.call("load", database=sealed(made.database, made.did, SECRET), key=KEY)
        assert loaded["success"] is True
        other.call("exec", filter="resource:enclaves action:create", args={})
        database = opened(base64.b64decode(other.call("save")["database"]), SECRET)
    first = "UPDATE enclaves SET rowid = -rowid WHERE rowid = (SELECT max(rowid) FROM enclaves)"
    enclave, _ = load(sealed(edited(database, tmp_path / "db", first), made.did, SECRET), key=KEY)
    digest = bytes(32)
    ((public,),) = rows_in(made.database, "SELECT public_key FROM enclaves")
    signature = enclave.call("sign", digest=digest)["signature"]
    assert enclave.call("verify_signature", public_key=public, digest=digest, signature=signature) == {"valid": True}
    assert enclave.call("did_key", curve="P-256", public_key=public)["did_new"] == made.did.decode()


def test_a_pairing_does_not_bring_a_vault_that_is_not_its_dids(made, tmp_path):
    """The other device may belong to anyone who typed the digits, so what it sends is checked like an import."""
    from tests.support.pairing_by_hand import paired

    database = edited(made.database, tmp_path / "db", "UPDATE meta SET value = ? WHERE key = 'did'", STRANGER)
    for sent, error in ((database, "invalid_database"), (made.database, None)):
        with Enclave() as new:
            answer = paired(new, sent, KEY)
            assert answer.get("error") == error
            assert new.call("status")["locked"] is (error is not None)
