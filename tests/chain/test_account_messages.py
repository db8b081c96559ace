"""What owners and guardians sign and send has the digests and encodings of the shared vectors."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain import account_calls
from holdfast.chain.account_messages import Change, cancellation_digest, changes_digest, recovery_digest
from holdfast.chain.signers import by_name, key_id, kind_of, named, of_changes, signatures_in
from holdfast.wire.encoding import from_hex, to_hex

MESSAGES = [case["steps"][1] for case in vectors("accounts/messages")["cases"]]
CALLS, FORMS = vectors("accounts/calls")["vectors"], vectors("accounts/change_signatures")
_SIGNED = vectors("accounts/named_signatures")
NAMED, MALFORMED = _SIGNED["vectors"], _SIGNED["malformed"]


def digest_of(given):
    match given["message"]:
        case "changes":
            changes = [Change.from_json(change) for change in given["changes"]]
            return changes_digest(given["account"], given["sequence"], changes)
        case "recovery":
            return recovery_digest(given["account"], given["nonce"], [from_hex(owner) for owner in given["new_owners"]])
        case _:
            return cancellation_digest(given["account"], given["nonce"])


@pytest.mark.parametrize("step", MESSAGES)
def test_digests(step):
    assert to_hex(digest_of(step["input"])) == step["contains"]["digest"]


@pytest.mark.parametrize("step", [step for step in MESSAGES if "changes" in step["input"]])
def test_changes_are_written_as_they_were_read(step):
    for given in step["input"]["changes"]:
        change = Change.from_json(given)
        assert Change.from_json(change.to_json()) == change
        assert {**given, **change.to_json()} == change.to_json()


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "upgrade", "signer": "0x" + "11" * 20},
        {"kind": "add_owner"},
        {"kind": "remove_owner", "signer": "0x" + "11" * 20, "value": 5},
        {"kind": "set_quorum", "signer": "0x" + "11" * 20, "value": 1},
        {"kind": "set_quorum", "value": -1},
        {"kind": "set_quorum", "value": True},
    ],
)
def test_refuses_what_is_no_change(given):
    with pytest.raises(ValueError, match="change"):
        Change.from_json(given)


@pytest.mark.parametrize("vector", FORMS["vectors"], ids=[vector["name"] for vector in FORMS["vectors"]])
def test_a_signature_of_changes_has_the_cheapest_form(vector):
    signed, how = map(from_hex, (FORMS["signer"], FORMS["signature"])), (vector["suffices"], vector["isPrimary"])
    assert to_hex(of_changes(*signed, suffices=how[0], is_primary=how[1])) == vector["whole"]


@pytest.mark.parametrize("vector", NAMED)
def test_signatures_by_name_in_any_order_and_taken_apart(vector):
    signed = [(from_hex(each["signer"]), from_hex(each["signature"])) for each in vector["signatures"]]
    assert to_hex(named(signed)) == vector["named"] == to_hex(named(reversed(signed)))
    assert sorted(signatures_in(from_hex(vector["named"]))) == sorted(signed)


@pytest.mark.parametrize("vector", MALFORMED, ids=lambda vector: vector["name"])
def test_a_malformed_list_of_signatures_is_refused(vector):
    with pytest.raises(ValueError, match="is malformed"):
        signatures_in(from_hex(vector["whole"]))
    with pytest.raises(ValueError, match="one signature suffices"):
        signatures_in(b"\xab" * 64)


def test_a_key_that_signs_alone_stands_before_its_signature_and_none_or_a_signer_twice_is_refused():
    assert by_name(b"\1" * 64, b"a") == b"\1" * 64 + b"a"
    assert by_name(b"\1" * 20, b"a") == named([(b"\1" * 20, b"a")])
    for signed in ([], [(b"\1" * 20, b"a"), (b"\1" * 20, b"b")], [(b"\1" * 20, bytes(1 << 16))]):
        with pytest.raises(ValueError, match="sign"):
            named(signed)


ACCOUNT = "0x" + "aa" * 20


def signed_of(given, sequence):
    changes = tuple(Change.from_json(change) for change in given["changes"])
    return account_calls.SignedChanges(ACCOUNT, sequence, changes, from_hex(given["signature"]))


def call_of(row):
    owners = [from_hex(owner) for owner in row.get("new_owners", [])]
    match row["call"]:
        case "apply":
            return account_calls.apply_changes(signed_of(row, row["sequence"]))[2]
        case "create":
            key, salt = (int(row["x"], 16), int(row["y"], 16)), int(row["salt"], 16)
            history = [signed_of(each, sequence) for sequence, each in enumerate(row["history"])]
            return account_calls.create_account_with(ACCOUNT, key, salt, history)[2]
        case "start":
            return account_calls.start_recovery(ACCOUNT, owners, from_hex(row["signature"]))[2]
        case "finish":
            return account_calls.finish_recovery(ACCOUNT, owners)[2]
        case _:
            return account_calls.cancel_recovery(ACCOUNT, from_hex(row["signature"]))[2]


@pytest.mark.parametrize("row", CALLS, ids=lambda row: str(row["name"]))
def test_calls_and_what_is_read_from_them(row):
    assert to_hex(call_of(row)) == row["data"]
    written = [row] if "changes" in row else row.get("history", [])
    signed = [signed_of(each, row.get("sequence", at)) for at, each in enumerate(written)]
    assert list(account_calls.changes_in(ACCOUNT, b"within others" + from_hex(row["data"]))) == signed


def test_changes_are_read_however_values_are_padded_as_the_contract_does():
    data = account_calls.apply_changes(signed_of(CALLS[0] | {"signature": "0x" + "5a" * 65}, 0))[2]
    padded, cut, short = data[:-31] + b"\1" * 31, data[:-31], data[:-32]
    assert [len(list(account_calls.changes_in(ACCOUNT, each))) for each in (data, padded, cut, short)] == [1, 1, 1, 0]
    unknown = data[:3] + b"\0" + data[4:]
    assert list(account_calls.changes_in(ACCOUNT, unknown)) == []


def test_kinds_of_signers():
    assert [kind_of(bytes(length)) for length in (20, 21, 64, 65)] == ["address", "verifier", "p256", "verifier"]
    for length in (0, 19, 1025):
        with pytest.raises(ValueError, match="a signer has"):
            kind_of(bytes(length))
    assert len(key_id(bytes(64))) == 32
