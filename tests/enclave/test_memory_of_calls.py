"""Intermediate secrets are also erased: a signature's nonce, a wrap's key, and the secret that two devices share."""

import base64
import hashlib
import hmac
import struct

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from tests.support.linear_memory import memory_of

from holdfast.enclave import Enclave

ORDERS = {
    "P-256": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "secp256k1": 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
}
CURVES = {"P-256": ec.SECP256R1(), "secp256k1": ec.SECP256K1()}


class Recorder:
    def __init__(self, seed):
        self.seed, self.taken = seed, list[bytes]()

    def __call__(self, size):
        self.taken.append(hashlib.shake_256(self.seed + b"%d" % len(self.taken)).digest(size))
        return self.taken[-1]

    def scalars(self, order):
        return [int.from_bytes(part) % order for part in self.taken if len(part) == 48]


def numbers(order, *values):
    """Return each number, its inverse and its negative, plain in both byte orders and in Montgomery form."""
    found = []
    for value in values:
        for form in (value, pow(value, -1, order), order - value):
            found += [form.to_bytes(32), form.to_bytes(32, "little"), ((form << 256) % order).to_bytes(32, "little")]
    return found


def assert_absent(enclave, secrets):
    memory = memory_of(enclave)
    for number, secret in enumerate(secrets):
        for start in range(0, len(secret) - 15, 16):
            assert secret[start : start + 16] not in memory, f"secret {number}, from byte {start}"


def rfc6979(secret, digest, order, entropy):
    """Return RFC 6979's nonce (3.2) with additional entropy (3.6), and the generator's intermediate states."""
    given = secret.to_bytes(32) + (int.from_bytes(digest) % order).to_bytes(32) + entropy
    key, value, states = bytes(32), b"\1" * 32, []
    for separator in (b"\0", b"\1"):
        key = hmac.digest(key, value + separator + given, "sha256")
        value = hmac.digest(key, value, "sha256")
        states += [key, value]
    value = hmac.digest(key, value, "sha256")
    return int.from_bytes(value), [*states, value, hmac.digest(key, value + b"\0", "sha256")]


@pytest.mark.parametrize("curve", sorted(ORDERS))
def test_the_nonce_of_a_signature_is_gone_and_is_the_standards(credential, key, curve):
    order, random = ORDERS[curve], Recorder(b"sign")
    with Enclave(random=random) as vault:
        vault.call("generate", credential=credential, key=key, curve=curve)
        secret = sum(random.scalars(order)) % order
        for number in range(6):
            digest = hashlib.sha256(b"%d" % number).digest()
            answer = vault.call("sign", digest=digest, deterministic=number % 2 == 0)
            nonce, states = rfc6979(secret, digest, order, b"" if number % 2 == 0 else random.taken[-1])
            point = ec.derive_private_key(nonce, CURVES[curve]).public_key().public_numbers()
            assert base64.b64decode(answer["signature"])[:32] == (point.x % order).to_bytes(32)
            assert_absent(vault, [*states, *numbers(order, nonce, secret)])


def test_the_key_of_a_wrap_is_gone(credential, key):
    given = base64.b64decode(key["secret"])
    with Enclave() as vault:
        raw = base64.b64decode(vault.call("generate", credential=credential, key=key)["database"])
        wrap = 44 + struct.unpack(">H", raw[6:8])[0]
        salt = raw[wrap + 2 : wrap + 18]
        derived = HKDF(SHA256(), 32, salt, b"holdfast/vault-wrap/v1/secret").derive(given)
        hidden = [given, derived, hmac.digest(salt, given, "sha256")]
        assert_absent(vault, hidden)
        vault.call("lock")
        assert vault.call("unlock", database=raw, key=key)["success"] is True
        assert_absent(vault, hidden)


def test_what_two_devices_share_is_gone(credential, key):
    order, here, there = ORDERS["P-256"], Recorder(b"old"), Recorder(b"new")
    with Enclave(random=here) as old, Enclave(random=there) as new:
        old.call("generate", credential=credential, key=key)
        first = new.call("sync_init")
        session = {"session_id": first["session_id"]}
        answer = old.call("sync_respond", **session, public_key=first["public_key"])
        shown = new.call("sync_compare", **session, public_key=answer["public_key"])
        old.call("sync_compare", **session, reveal=shown["reveal"])
        ours, theirs = here.scalars(order)[-1], there.scalars(order)[0]
        sent = old.call("sync_respond", **session, code=shown["code"])["encrypted_vault"]

        peer = ec.derive_private_key(ours, ec.SECP256R1()).public_key()
        shared = ec.derive_private_key(theirs, ec.SECP256R1()).exchange(ec.ECDH(), peer)
        seen = b"".join(
            bytes.fromhex(part) for part in (first["session_id"], first["public_key"], answer["public_key"])
        )
        nonce = next(part for part in there.taken if len(part) == 32)
        transcript = hashlib.sha256(b"holdfast/sync/v1/transcript" + seen + nonce).digest()
        vault_key = HKDF(SHA256(), 32, transcript, b"holdfast/sync/v1/vault").derive(shared)
        sealed = base64.b64decode(sent)
        assert AESGCM(vault_key).decrypt(sealed[:12], sealed[12:], transcript).startswith(b"SQLite format 3")

        hidden = [shared, shared[::-1], hmac.digest(transcript, shared, "sha256"), vault_key]
        assert_absent(old, [*hidden, *numbers(order, ours)])
        done = new.call("sync_complete", **session, code=shown["code"], encrypted_vault=sent, key=key)
        assert done["success"] is True
        assert_absent(new, [*hidden, *numbers(order, theirs)])


def test_a_pairing_that_is_late_leaves_no_secret(credential, key):
    """Any call after the pairing has expired erases the secret, not only a call that concerns the pairing."""
    now, recorder, order = [1.7e9], Recorder(b"late"), ORDERS["P-256"]
    with Enclave(random=recorder, now=lambda: now[0], after=lambda _seconds, _work: lambda: None) as enclave:
        enclave.call("sync_init")
        secret = recorder.scalars(order)[-1]
        assert secret.to_bytes(32) in memory_of(enclave)
        now[0] += 300
        enclave.call("status")
        assert secret.to_bytes(32) in memory_of(enclave)
        now[0] += 0.001
        enclave.call("status")
        assert_absent(enclave, numbers(order, secret))
