"""No secret remains in the module's memory after a lock, a signature, an export, an import, a pairing or a refused key."""

import base64
import hashlib
import hmac
import json
import struct

import pytest
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from tests.support.curves import ORDERS
from tests.support.enclave_calls import done
from tests.support.linear_memory import Recorder, assert_absent, forms, memory_of, numbers

from holdfast.enclave import Enclave

PASSWORD = "correct horse battery staple"
CURVES = {"P-256": ec.SECP256R1(), "secp256k1": ec.SECP256K1()}
ORDER = ORDERS["P-256"]


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def made(recorder, credential, key):
    """An instance with a vault, and the secrets from which the vault's key and its encryption keys were made."""
    with Enclave(random=recorder) as enclave:
        enclave.call("generate", credential=credential, key=key)
        val, user = recorder.scalars(ORDER)[:2]
        sealing = [part for part in recorder.taken if len(part) == 32]
        (seed,) = (part for part in recorder.taken if len(part) == 64)
        secrets = numbers(ORDER, val, user, (val + user) % ORDER) | forms("seed", seed)
        hidden = {}
        for name, part in zip(("val key", "user key", "seed key", "data key"), sealing, strict=True):
            hidden |= forms(name, part)
        yield enclave, secrets, hidden


def test_the_scan_finds_what_is_there(made):
    """The memory scan must find an open vault's data key and database, or its other results would prove nothing."""
    enclave, _, sealing = made
    for name in ("data key, raw", "val key, raw"):  # the second is in a row of the open database
        with pytest.raises(AssertionError, match=name):
            assert_absent(enclave, {name: sealing[name]})


def test_the_key_is_gone_after_generation_and_each_signature(made):
    enclave, secrets, _ = made
    assert_absent(enclave, secrets)
    for number in range(5):
        enclave.call("sign", digest=hashlib.sha256(b"%d" % number).digest(), deterministic=number % 2 == 0)
        assert_absent(enclave, secrets)
    enclave.call("refresh_shares")
    assert_absent(enclave, secrets)
    enclave.call("mint_ucan", to="did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", command="/")
    assert_absent(enclave, secrets)


def test_everything_is_gone_after_a_lock(made, key):
    enclave, secrets, sealing = made
    marker = "a token's value that occurs nowhere else"
    done(enclave, "tokens", "create", kind="k", value=marker)
    done(enclave, "tokens", "list")
    enclave.call("sign", digest=bytes(32))
    hidden = secrets | sealing | {"marker": marker.encode()} | forms("host key", base64.b64decode(key["secret"]))
    for _ in range(2):
        assert marker.encode() in memory_of(enclave)
        locked = enclave.call("lock")
        assert_absent(enclave, hidden)
        assert enclave.call("unlock", database=locked["database"], key=key)["success"] is True


def test_the_password_and_its_key_are_gone_after_export_and_import(made, recorder, key):
    enclave, secrets, _ = made
    exported = base64.b64decode(enclave.call("export", password=PASSWORD)["data"])
    derived = hash_secret_raw(PASSWORD.encode(), exported[20:36], 3, 65536, 4, 32, Type.ID)
    assert AESGCM(derived).decrypt(exported[36:48], exported[56:], exported[:56]).startswith(b"SQLite format 3")
    hidden = secrets | {"password": PASSWORD.encode()} | forms("derived", derived)
    assert_absent(enclave, hidden)
    assert bytes(64 << 20) in memory_of(enclave), "what Argon2 filled is not zero again"
    with Enclave(random=recorder) as second:
        for password in ("wrong password entirely", PASSWORD):
            second.call("import", data=exported, password=password, key=key)
            assert_absent(second, hidden | {"wrong": b"wrong password entirely"})
        second.call("lock")
        assert_absent(second, hidden)


def test_refused_keys_and_refused_calls_leave_nothing(made):
    enclave, secrets, sealing = made
    enclave.call("lock")
    guess = hashlib.sha256(b"guess").digest()
    enclave.call("unlock", key={"kind": "secret", "secret": guess})
    enclave.call("unlock", key={"kind": "password", "password": PASSWORD})
    enclave.call_raw("unlock", b'{"key": {"kind": "password", "password": "%s", "x": [' % PASSWORD.encode())
    enclave.call_raw("no such function", json.dumps({"secret": PASSWORD}).encode())
    assert_absent(enclave, secrets | sealing | forms("guess", guess) | {"password": PASSWORD.encode()})


def rfc6979(secret, digest, order, entropy):
    """Return RFC 6979's nonce (3.2) with additional entropy (3.6), and the generator's intermediate states."""
    given = secret.to_bytes(32) + (int.from_bytes(digest) % order).to_bytes(32) + entropy
    key, value, states = bytes(32), b"\1" * 32, []
    for separator in (b"\0", b"\1"):
        key = hmac.digest(key, value + separator + given, "sha256")
        value = hmac.digest(key, value, "sha256")
        states += [key, value]
    value = hmac.digest(key, value, "sha256")
    states += [value, hmac.digest(key, value + b"\0", "sha256")]
    return int.from_bytes(value), {f"state {number}": state for number, state in enumerate(states)}


@pytest.mark.parametrize("curve", sorted(ORDERS))
def test_the_nonce_of_a_signature_is_gone_and_is_the_standards(credential, key, curve):
    order, random = ORDERS[curve], Recorder(b"sign")
    with Enclave(random=random) as vault:
        vault.call("generate", credential=credential, key=key, curve=curve)
        secret = sum(random.scalars(order)) % order
        for number in range(20):
            digest = hashlib.sha256(b"%d" % number).digest()
            answer = vault.call("sign", digest=digest, deterministic=number % 2 == 0)
            nonce, states = rfc6979(secret, digest, order, b"" if number % 2 == 0 else random.taken[-1])
            r = ec.derive_private_key(nonce, CURVES[curve]).public_key().public_numbers().x % order
            s = pow(nonce, -1, order) * (int.from_bytes(digest) + r * secret) % order
            assert base64.b64decode(answer["signature"]) == r.to_bytes(32) + min(s, order - s).to_bytes(32)
            assert_absent(vault, states | numbers(order, nonce, secret))


def test_the_key_of_a_wrap_is_gone(credential, key):
    given = base64.b64decode(key["secret"])
    with Enclave() as vault:
        raw = base64.b64decode(vault.call("generate", credential=credential, key=key)["database"])
        wrap = 44 + struct.unpack(">H", raw[6:8])[0]
        salt = raw[wrap + 2 : wrap + 18]
        derived = HKDF(SHA256(), 32, salt, b"holdfast/vault-wrap/v1/secret").derive(given)
        hidden = {"given": given, "derived": derived, "extracted": hmac.digest(salt, given, "sha256")}
        assert_absent(vault, hidden)
        vault.call("lock")
        assert vault.call("unlock", database=raw, key=key)["success"] is True
        assert_absent(vault, hidden)


def test_what_two_devices_share_is_gone(credential, key):
    here, there = Recorder(b"old"), Recorder(b"new")
    with Enclave(random=here) as old, Enclave(random=there) as new:
        old.call("generate", credential=credential, key=key)
        first = new.call("sync_init")
        session = {"session_id": first["session_id"]}
        answer = old.call("sync_respond", **session, public_key=first["public_key"])
        shown = new.call("sync_compare", **session, public_key=answer["public_key"])
        old.call("sync_compare", **session, reveal=shown["reveal"])
        ours, theirs = here.scalars(ORDER)[-1], there.scalars(ORDER)[0]
        sent = old.call("sync_respond", **session, code=shown["code"])["encrypted_vault"]
        peer = ec.derive_private_key(ours, ec.SECP256R1()).public_key()
        shared = ec.derive_private_key(theirs, ec.SECP256R1()).exchange(ec.ECDH(), peer)
        seen = bytes.fromhex(first["session_id"] + first["public_key"] + answer["public_key"])
        nonce = next(part for part in there.taken if len(part) == 32)
        transcript = hashlib.sha256(b"holdfast/sync/v1/transcript" + seen + nonce).digest()
        vault_key = HKDF(SHA256(), 32, transcript, b"holdfast/sync/v1/vault").derive(shared)
        sealed = base64.b64decode(sent)
        assert AESGCM(vault_key).decrypt(sealed[:12], sealed[12:], transcript).startswith(b"SQLite format 3")
        extracted = hmac.digest(transcript, shared, "sha256")
        hidden = forms("shared", shared) | {"extracted": extracted, "vault key": vault_key}
        assert_absent(old, hidden | numbers(ORDER, ours))
        assert (
            new.call("sync_complete", **session, code=shown["code"], encrypted_vault=sent, key=key)["success"] is True
        )
        assert_absent(new, hidden | numbers(ORDER, theirs))


def test_a_pairing_that_is_late_leaves_no_secret():
    """Any call after the pairing has expired erases the secret, not only a call that concerns the pairing."""
    now, recorder = [1.7e9], Recorder(b"late")
    with Enclave(random=recorder, now=lambda: now[0], after=lambda _seconds, _work: lambda: None) as enclave:
        enclave.call("sync_init")
        secret = recorder.scalars(ORDER)[-1]
        now[0] += 300
        enclave.call("status")
        assert secret.to_bytes(32) in memory_of(enclave)
        now[0] += 0.001
        enclave.call("status")
        assert_absent(enclave, numbers(ORDER, secret))
