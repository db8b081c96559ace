"""The standards' test vectors through the module's functions: RFC 6979, and the ECDSA files from NIST and OpenSSL."""

import base64
import hashlib
import re
import struct

import cryptography_vectors
import msgspec
import pytest
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from tests.support.sealed_vaults import rows_in

from holdfast.enclave import Enclave

N_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
N_SECP = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
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


def text_of(name):
    with cryptography_vectors.open_vector_file(name, "r") as file:
        return str(file.read())


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
            assert base64.b64decode(answer["signature"]) == r.to_bytes(32) + min(s, N_P256 - s).to_bytes(32)


def cases(text, section):
    """Yield the blocks of one section of a response file."""
    current = ""
    block = {}
    for line in [*text.splitlines(), ""]:
        if head := re.fullmatch(r"\[(.*)\]", line.strip()):
            current = head[1]
        elif found := re.match(r"(\w+) = (.*)", line):
            block[found[1]] = found[2].strip()
        elif block:
            if current == section:
                yield block
            block = {}


def number(text):
    return int(text.split(" ", maxsplit=1)[0], 16)


def test_secp256k1_signatures_of_openssl(enclave):
    count = 0
    for case in cases(text_of("asymmetric/ECDSA/SECP256K1/SigGen.txt"), "K-256,SHA-256"):
        x, y, r, s = (number(case[name]) for name in ("Qx", "Qy", "R", "S"))
        digest = hashlib.sha256(bytes.fromhex(case["Msg"])).digest()
        point = b"\x04" + x.to_bytes(32) + y.to_bytes(32)
        answer = enclave.call_raw("verify_signature", request(point, "secp256k1", digest, r, min(s, N_SECP - s)))
        assert answer == b'{"valid":true}'
        count += 1
    if count == 0:
        pytest.fail("the file has no section of that name any more")


def request(point, curve, digest, r, s):
    fields = {"public_key": point, "curve": curve, "digest": digest, "signature": r.to_bytes(32) + s.to_bytes(32)}
    return msgspec.json.encode(fields)


def test_the_sealed_database_opens_with_other_implementations(vault, key):
    """Python libraries for HKDF, Argon2id and AES-256-GCM can open the sealed database as docs/formats.md says."""
    vault.call("add_wrap", key={"kind": "password", "id": "pw", "password": "correct horse"})
    data = base64.b64decode(vault.call("save")["database"])
    magic, version, wraps, did_length, _, _, nonce, length = struct.unpack(">4sBBHQQ12sQ", data[:44])
    assert (magic, version, wraps) == (b"HFDB", 1, 2)
    position = 44 + did_length
    did = data[44:position]
    opened = set()
    for _ in range(wraps):
        start = position
        kind, id_length = data[position], data[position + 1]
        position += 2 + id_length
        salt, memory, passes, lanes, own, sealed = struct.unpack(">16sIII12s48s", data[position : position + 88])
        position += 88
        if kind == 1:
            kek = HKDF(SHA256(), 32, salt, b"holdfast/vault-wrap/v1/secret").derive(base64.b64decode(key["secret"]))
        else:
            kek = hash_secret_raw(b"correct horse", salt, passes, memory, lanes, 32, Type.ID)
        opened.add(AESGCM(kek).decrypt(own, sealed, b"holdfast/vault-wrap/v1\0" + did + data[start : position - 48]))
    (data_key,) = opened
    assert len(data) - position == length
    image = AESGCM(data_key).decrypt(nonce, data[position:], data[:position])
    assert rows_in(image, "SELECT value FROM meta WHERE key = 'did'") == [(did.decode(),)]
