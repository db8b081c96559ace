"""The service parses tokens signed by P-256 keys, tested with the enclave's vectors."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.vault_tokens import VaultKey, container

from holdfast.rules.ucan import Token, TokenMalformed, covers, ed25519_key, p256_key, read_container, read_token

VECTORS = Path(__file__).resolve().parents[2] / "vectors/ucan"
# Error codes that the bytes of a single token determine; the caller checks time, commands, chains and revocation.
OF_THE_TOKEN = {"invalid_signature", "unsupported_algorithm", "unsupported_version", "invalid_key"}
NOT_P256 = {"the same through secp256k1", "a chain of three, in any order"}


def cases(name: str):
    for case in json.loads((VECTORS / name).read_text())["cases"]:
        token = case.get("input", {}).get("token")
        if isinstance(token, str):
            yield pytest.param(case, id=case["name"])


def read(text: str) -> Token:
    """Parse a token from base64 or from a container."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        data = read_container(text)
    return read_token(data)


@pytest.mark.parametrize("case", list(cases("verify_valid.json")))
def test_what_holds_is_read(case: dict) -> None:
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
def test_what_is_forged_is_not(case: dict) -> None:
    if case["error"] in OF_THE_TOKEN:
        with pytest.raises(TokenMalformed):
            read(case["input"]["token"])


def test_both_forms_of_a_signature_are_one_token() -> None:
    key = VaultKey()
    token = key.envelope(key.invocation(1_800_000_000))
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    other = token[:35] + (order - int.from_bytes(token[35:67])).to_bytes(32) + token[67:]
    first, second = read_token(token), read_token(other)
    assert first.digest == second.digest and set(first.cids) == set(second.cids) and first.did == key.did


@given(
    st.text(max_size=300)
    | st.binary(max_size=300).map(container)
    | st.binary(max_size=300).map(lambda b: "C" + b.hex())
)
def test_no_text_is_more_than_malformed(text: str) -> None:
    with pytest.raises(TokenMalformed):
        read_token(read_container(text))


@given(
    st.text(max_size=80)
    | st.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabc", min_size=40, max_size=60).map("did:key:z{}".format)
)
def test_no_did_is_more_than_malformed(did: str) -> None:
    for read_key in (p256_key, ed25519_key):
        try:
            read_key(did)
        except TokenMalformed:
            continue


@pytest.mark.parametrize(
    ("command", "asked", "yes"),
    [
        ("/", "/a/b", True), ("/a", "/a/b", True), ("/a/b", "/a/b", True), ("/a/b/c", "/a/b", False), ("/a/bc", "/a/b", False),
        ("/a/", "/a/b", False), ("", "/a/b", False),
    ],
)  # fmt: skip
def test_commands_cover_what_lies_below(command: str, asked: str, yes: bool) -> None:
    assert covers(command, asked) is yes
