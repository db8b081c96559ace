"""The enclave parses credentials that were built with python-fido2's types."""

import base64
import hashlib
import json
import struct

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2.cose import ES256, RS256, EdDSA
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.credentials import KEY
from tests.support.enclave_calls import done, refused

from holdfast.enclave import Enclave

PRIVATE = {
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    "RS256": rsa.generate_private_key(65537, 2048),
}
COSE = {"ES256": ES256, "EdDSA": EdDSA, "RS256": RS256}
KEYS = {kind: COSE[kind].from_cryptography_key(key.public_key()) for kind, key in PRIVATE.items()}
SIGNING = {"ES256": (ec.ECDSA(hashes.SHA256()),), "EdDSA": (), "RS256": (padding.PKCS1v15(), hashes.SHA256())}
CHALLENGE = hashlib.sha256(b"challenge").digest()


@pytest.fixture(scope="module")
def enclave():
    return Enclave()


def attestation(kind, credential_id, counter, aaguid):
    attested = AttestedCredentialData.create(aaguid, credential_id, KEYS[kind])
    data = AuthenticatorData.create(hashlib.sha256(b"example.org").digest(), 0x45, counter, attested)
    return AttestationObject.create("none", data, {})


@pytest.mark.parametrize("kind", sorted(KEYS))
def test_every_cut_of_a_registration_is_refused(enclave, kind):
    made = bytes(attestation(kind, b"credential", 1, bytes(16)))
    for length in range(len(made)):
        assert refused(enclave, "parse_webauthn", credential=made[:length]) == "invalid_credential"


def url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def assertion(data, client, signature):
    response = {"authenticatorData": url(data), "clientDataJSON": url(client), "signature": url(signature)}
    return json.dumps({"id": url(b"credential"), "type": "public-key", "response": response}).encode()


@pytest.fixture(scope="module")
def vaults():
    opened = {kind: Enclave() for kind in KEYS}
    for kind, enclave in opened.items():
        made = bytes(attestation(kind, b"credential", 0, bytes(16)))
        enclave.call("generate", credential=made, key={"kind": "secret", "secret": bytes(range(32))})
    yield opened
    for enclave in opened.values():
        enclave.close()


def verified(vault, shown, challenge=CHALLENGE):
    asked = {"challenge": challenge, "origin": "https://example.org", "rp_id": "example.org"}
    return vault.call("exec", filter="resource:credentials action:verify", args={"assertion": shown, **asked})


def is_valid(vault, shown):
    answer = verified(vault, shown)
    return bool(answer["success"] and answer["result"]["valid"])


def parts_of(kind, counter=0, challenge=CHALLENGE):
    data = hashlib.sha256(b"example.org").digest() + struct.pack(">BI", 0x05, counter)
    asked = {"type": "webauthn.get", "challenge": url(challenge), "origin": "https://example.org"}
    client = json.dumps(asked).encode()
    return [data, client, PRIVATE[kind].sign(data + hashlib.sha256(client).digest(), *SIGNING[kind])]


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(sorted(KEYS)), part=st.integers(0, 2), at=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_no_flipped_bit_of_an_assertion_passes(vaults, kind, part, at, bit):
    parts = parts_of(kind)
    assert is_valid(vaults[kind], assertion(*parts))
    bent = bytearray(parts[part])
    bent[at % len(bent)] ^= 1 << bit
    assert not is_valid(vaults[kind], assertion(*parts[:part], bytes(bent), *parts[part + 1 :]))


@pytest.mark.parametrize("length", [15, 16])
def test_a_challenge_has_at_least_sixteen_bytes(vaults, length):
    challenge = bytes(range(length))
    answer = verified(vaults["ES256"], assertion(*parts_of("ES256", challenge=challenge)), challenge)
    assert answer.get("error", "").startswith("invalid_field") is (length < 16)
    assert answer["success"] is (length >= 16)


def test_a_count_beyond_what_an_authenticator_counts_admits_no_use():
    with Enclave() as vault:
        vault.call("generate", credential=bytes(attestation("ES256", b"credential", 0, bytes(16))), key=KEY)
        done(vault, "credentials", "update", id=url(b"credential"), sign_count=1 << 32)
        answer = verified(vault, assertion(*parts_of("ES256", counter=(1 << 32) - 1)))
        assert answer["result"]["reason"] == "sign_count"
