"""`holdfast attestation verify`: whether this service signed an attestation, and whether it is still valid."""

import json
import time

import msgspec
import pytest

from holdfast.cli.exits import Exit
from holdfast.rules.attestations import issue_at
from holdfast.rules.identifiers import Channel, parse_identifier

KEY, OLD, OTHER = (f"{name} 0123456789abcdef 0123456789abcdef" for name in ("key", "old", "other"))


HERE = "did:web:localhost%3A8787"


def attestation(key, now, registrar=HERE):
    identifier = parse_identifier("ann@example.org", Channel.EMAIL)
    return msgspec.to_builtins(issue_at(identifier, registrar, key.encode(), now, 300))


def test_ours_is_valid_from_a_file_and_from_standard_input_also_after_a_rotation(holdfast, tmp_path):
    value, file = attestation(KEY, time.time()), tmp_path / "attestation.json"
    file.write_text(json.dumps(value))
    answer = holdfast("attestation", "verify", file, "--json", ATTESTATION_SIGNING_KEY=KEY)
    assert (answer.code, answer.value) == (Exit.OK, {"valid": True, "expires_at": value["expires_at"]})
    text = holdfast("attestation", "verify", "-", stdin=json.dumps(value), ATTESTATION_SIGNING_KEY=f"{OTHER},{KEY}")
    assert (text.code, text.out) == (Exit.OK, f"valid until {value['expires_at']}\n")


@pytest.mark.parametrize(
    ("change", "age_s", "key", "registrar", "error"),
    [
        ({}, 400, KEY, HERE, "attestation_expired"),
        ({}, 0, OTHER, HERE, "attestation_invalid"),
        ({}, 0, KEY, "did:web:staging.example.org", "attestation_invalid"),
        ({"identifier": "ben@example.org"}, 0, KEY, HERE, "attestation_invalid"),
        ({"identifier": "\ud800"}, 0, KEY, HERE, None),
    ],
)
def test_what_is_not_ours_or_not_alive_exits_1(holdfast, change, age_s, key, registrar, error):
    value = json.dumps(attestation(KEY, time.time() - age_s, registrar) | change)
    answer = holdfast("attestation", "verify", "-", "--json", stdin=value, ATTESTATION_SIGNING_KEY=key)
    assert (answer.code, answer.value["valid"]) == (Exit.FAILED, False)
    assert error is None or answer.value["error"] == error
    told = holdfast("attestation", "verify", "-", stdin=value, ATTESTATION_SIGNING_KEY=key).out
    assert told.startswith("not valid: ")


@pytest.mark.parametrize(
    ("key", "file", "text", "code", "told"),
    [
        *((KEY, "-", text, Exit.USAGE, "this is not JSON") for text in (b"", b"\xff", b"[" * 100_000, b"nan")),
        *((KEY, "-", text, Exit.FAILED, "") for text in ("[]", "null", '{"identifier": 1}', '{"identifier": NaN}')),
        (KEY, "none.json", "", Exit.NOT_FOUND, ""),
        (KEY, ".", "", Exit.NOT_FOUND, ""),
        ("short", "-", "{}", Exit.CONFIGURATION, "ATTESTATION_SIGNING_KEY"),
    ],
)
def test_what_cannot_be_judged_has_its_exit_code(holdfast, tmp_path, key, file, text, code, told):
    file = file if file == "-" else tmp_path / file
    answer = holdfast("attestation", "verify", file, stdin=text, ATTESTATION_SIGNING_KEY=key)
    assert answer.code == code and told in answer.err and "short" not in answer.err
