"""The service parses tokens signed by P-256 keys, tested with the enclave's vectors."""

import base64
import json
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.call_counts import counted_calls
from tests.support.vault_tokens import VARSIG, VaultKey, container, twin

from holdfast.content import dag_cbor
from holdfast.content.dag_cbor import Link
from holdfast.rules.ucan import TokenMalformed, covers, ed25519_key, p256_key, read_container, read_token

VECTORS = Path(__file__).resolve().parents[2] / "vectors/ucan"
# Error codes that the bytes of a single token determine; the caller checks time, commands, chains and revocation.
OF_THE_TOKEN = {"invalid_signature", "unsupported_algorithm", "unsupported_version", "invalid_key"}
NOT_P256 = {"the same through secp256k1", "a chain of three, in any order"}


def cases(name):
    for case in json.loads((VECTORS / name).read_text())["cases"]:
        token = case.get("input", {}).get("token")
        if isinstance(token, str):
            yield pytest.param(case, id=case["name"])


def read(text):
    """Parse a token from base64 or from a container."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        data = read_container(text)
    return read_token(data)


@pytest.mark.parametrize("case", list(cases("verify_valid.json")))
def test_what_holds_is_read(case):
    token = case["input"]["token"]
    if token[:1] in {"B", "C"} or case["name"] in NOT_P256 or "fragment" in case["name"]:
        with pytest.raises(TokenMalformed):  # chains, other keys, other containers: not valid bearer tokens
            read(token)
        return
    read_here = read(token)
    contains = case.get("contains", {})
    assert contains.get("cid") in {None, *read_here.cids}
    assert contains.get("issuer") in {None, read_here.claims["iss"]}


@pytest.mark.parametrize("case", list(cases("verify_invalid.json")))
def test_what_is_forged_is_not(case):
    if case["error"] in OF_THE_TOKEN:
        with pytest.raises(TokenMalformed):
            read(case["input"]["token"])


def test_both_forms_of_a_signature_are_one_token():
    key = VaultKey()
    token = key.envelope(key.invocation(1_800_000_000))
    first, second = read_token(token), read_token(twin(token))
    assert first.digest == second.digest and set(first.cids) == set(second.cids) and first.did == key.did


@given(
    st.text(max_size=80)
    | st.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabc", min_size=40, max_size=60).map("did:key:z{}".format)
)
def test_no_did_is_more_than_malformed(did):
    for read_key in (p256_key, ed25519_key):
        try:
            read_key(did)
        except TokenMalformed:
            continue


@pytest.mark.parametrize(("command", "asked", "yes"), [
    ("/", "/a/b", True), ("/a", "/a/b", True), ("/a/b", "/a/b", True), ("/a/b/c", "/a/b", False), ("/a/bc", "/a/b", False),
    ("/a/", "/a/b", False), ("", "/a/b", False),
])  # fmt: skip
def test_commands_cover_what_lies_below(command, asked, yes):
    assert covers(command, asked) is yes


CID = b"\x01\x55\x12\x20" + bytes(32)
HEAVY = {
    "links": [Link(CID)] * 125,
    "other links": b"\xd8\x2a\x45\x00\x01\x55\x00\x00" * 700,
    "nesting": b"\x81" * 5600 + b"\x80",
    "numbers": [2**64 - 1] * 600,
    "names": {f"{number:04}": None for number in range(600)},
    "texts": ["é"] * 1800,
    "a length of 2^64": b"\x5b" + b"\xff" * 8,
}


def _heavy(name, key):
    """Return a validly signed token with a heavy value in the claim `meta`."""
    value = HEAVY[name]
    claims = {**key.invocation(1_800_000_000), "meta": {"x": None}}
    signed = dag_cbor.encode({"h": VARSIG, "ucan/inv@1.0.0": claims})
    given = value if isinstance(value, bytes) else dag_cbor.encode(value)
    whole = signed.replace(b"\x61x\xf6", b"\x61x" + given)
    return b"\x82\x58\x40" + key.signature(whole) + whole


@pytest.mark.parametrize("name", HEAVY)
def test_a_heavy_token_costs_a_bounded_number_of_calls(name):
    key = VaultKey()
    signed = _heavy(name, key)
    forged = signed[:20] + bytes([signed[20] ^ 1]) + signed[21:]
    raw = dag_cbor.encode({"ctn-v1": [HEAVY[name] if isinstance(HEAVY[name], bytes) else dag_cbor.encode(HEAVY[name])]})
    listed = "C" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    ordinary = _calls(container(key.envelope(key.invocation(1_800_000_000))))
    assert _calls(container(signed), refused=name != "links") < 20 * ordinary
    assert _calls(container(forged), refused=True) < 2 * ordinary, "decoded before the signature was verified"
    assert _calls(listed, refused=True) < ordinary


def _calls(text, *, refused=False):
    with counted_calls() as calls:
        try:
            read_token(read_container(text))
        except TokenMalformed:
            assert refused
    return calls.count


def test_changed_tokens_are_malformed_and_nothing_else():
    draw = random.Random(5)
    key = VaultKey()
    good = container(key.envelope(key.invocation(1_800_000_000, meta={"a": [1, Link(CID)]}))).encode()
    for _ in range(3000):
        text = bytearray(good)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(text))
            text[at : at + draw.randrange(3)] = draw.choices(b"CABCxyz019-_", k=draw.randrange(3))
        with suppress(TokenMalformed):
            read_token(read_container(text.decode()))
