"""No secret remains in the module's memory after a lock, a signature, an export, an import or a refused key."""

import base64
import hashlib
import json
import sqlite3

import pytest
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.linear_memory import memory_of

from holdfast.enclave import Enclave

PASSWORD = "correct horse battery staple"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
MONTGOMERY = 1 << 256


class Recorder:
    """Returns known random bytes, so that the test knows every secret derived from them."""

    def __init__(self):
        self.taken = []

    def __call__(self, size):
        data = hashlib.shake_256(b"%d" % len(self.taken)).digest(size)
        self.taken.append(data)
        return data


def forms(secret):
    """Return the forms in which a secret may be in memory: raw, in hex, in base64 or reversed."""
    return {
        "raw": secret,
        "little-endian": secret[::-1],
        "hex": secret.hex().encode(),
        "base64": base64.b64encode(secret),
    }


def scalars(*values):
    """Return scalars as the arithmetic stores them: little-endian, plain and in Montgomery form."""
    found = {}
    for number, value in enumerate(values):
        found[f"scalar {number}"] = value.to_bytes(32, "little")
        found[f"scalar {number} big-endian"] = value.to_bytes(32, "big")
        found[f"scalar {number} Montgomery"] = (value * MONTGOMERY % ORDER).to_bytes(32, "little")
    return found


def used(enclave):
    """Return the memory without its empty pages, which are 64 of 70 MiB once Argon2 has run."""
    memory, page = memory_of(enclave), 1 << 16
    parts = (memory[at : at + page] for at in range(0, len(memory), page))
    return b"".join(part for part in parts if part != bytes(page))


def assert_absent(enclave, secrets, parts=16):
    memory = used(enclave)
    for name, secret in secrets.items():
        # Search for parts, too, because a secret that is only half overwritten still leaks the other half.
        for start in range(0, len(secret) - parts + 1, parts):
            assert secret[start : start + parts] not in memory, f"{name}, from byte {start}"


@pytest.fixture
def recorder():
    return Recorder()


def made(recorder, credential, key):
    """Return an instance with a vault, and the secrets from which the vault's key and its encryption keys were made."""
    enclave = Enclave(random=recorder)
    answer = enclave.call("generate", credential=credential, key=key)
    wide = [part for part in recorder.taken if len(part) == 48]
    val, user = (int.from_bytes(part) % ORDER for part in wide[:2])
    key_secrets = scalars(val, user, (val + user) % ORDER)
    sealing = {}
    thirty_two = [part for part in recorder.taken if len(part) == 32]
    assert len(thirty_two) == 4  # the two sealing keys, the seed's, and the data key
    for name, part in zip(("val key", "user key", "seed key", "data key"), thirty_two, strict=True):
        sealing |= {f"{name} {form}": data for form, data in forms(part).items()}
    (seed,) = (part for part in recorder.taken if len(part) == 64)
    key_secrets |= {f"seed {form}": data for form, data in forms(seed).items()}
    assert answer["did"]
    return enclave, key_secrets, sealing


def test_the_scan_finds_what_is_there(recorder, credential, key):
    """The memory scan must find an open vault's data key and database, or its other results would prove nothing."""
    enclave, _, sealing = made(recorder, credential, key)
    with enclave:
        memory = used(enclave)
        assert sealing["data key raw"] in memory
        assert sealing["val key raw"] in memory  # a row of the open database


def test_the_key_is_gone_after_generation_and_each_signature(recorder, credential, key):
    enclave, secrets, _ = made(recorder, credential, key)
    with enclave:
        assert_absent(enclave, secrets)
        for number in range(5):
            enclave.call("sign", digest=hashlib.sha256(b"%d" % number).digest(), deterministic=number % 2 == 0)
            assert_absent(enclave, secrets)
        enclave.call("refresh_shares")
        assert_absent(enclave, secrets)
        enclave.call("mint_ucan", to="did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", command="/")
        assert_absent(enclave, secrets)


def test_everything_is_gone_after_a_lock(recorder, credential, key):
    enclave, secrets, sealing = made(recorder, credential, key)
    with enclave:
        marker = "a token's value that nobody else has"
        filter_ = "resource:tokens action:create"
        enclave.call("exec", filter=filter_, args={"kind": "k", "value": marker})
        enclave.call("exec", filter="resource:tokens action:list")
        enclave.call("sign", digest=bytes(32))
        assert marker.encode() in memory_of(enclave)
        locked = enclave.call("lock")
        host_key = forms(base64.b64decode(key["secret"]))
        rest = {"marker": marker.encode()} | {f"host key {form}": data for form, data in host_key.items()}
        assert_absent(enclave, secrets | sealing | rest)
        assert enclave.call("unlock", database=locked["database"], key=key)["success"] is True
        assert marker.encode() in memory_of(enclave)
        enclave.call("lock")
        assert_absent(enclave, secrets | sealing | rest)


def test_the_password_and_its_key_are_gone_after_export_and_import(recorder, credential, key):
    enclave, secrets, _ = made(recorder, credential, key)
    with enclave:
        exported = base64.b64decode(enclave.call("export", password=PASSWORD)["data"])
        derived = hash_secret_raw(PASSWORD.encode(), exported[20:36], 3, 65536, 4, 32, Type.ID)
        hidden = secrets | {"password": PASSWORD.encode()} | {f"derived {k}": v for k, v in forms(derived).items()}
        assert_absent(enclave, hidden)
        assert bytes(64 << 20) in memory_of(enclave), "what Argon2 filled is not zero again"
        image = AESGCM(derived).decrypt(exported[36:48], exported[56:], exported[:56])
        connection = sqlite3.connect(":memory:")
        connection.deserialize(image)
        assert connection.execute("SELECT count(*) FROM enclaves").fetchone() == (1,)
        connection.close()
    with Enclave(random=recorder) as second:
        for password in ("wrong password entirely", PASSWORD):
            second.call("import", data=exported, password=password, key=key)
            assert_absent(second, hidden | {"wrong": b"wrong password entirely"})
        second.call("lock")
        assert_absent(second, hidden)


def test_refused_keys_and_refused_calls_leave_nothing(recorder, credential, key):
    enclave, secrets, sealing = made(recorder, credential, key)
    with enclave:
        enclave.call("lock")
        guess = hashlib.sha256(b"guess").digest()
        enclave.call("unlock", key={"kind": "secret", "secret": guess})
        enclave.call("unlock", key={"kind": "password", "password": PASSWORD})
        enclave.call_raw("unlock", b'{"key": {"kind": "password", "password": "%s", "x": [' % PASSWORD.encode())
        enclave.call_raw("no such function", json.dumps({"secret": PASSWORD}).encode())
        hidden = {f"guess {form}": data for form, data in forms(guess).items()}
        assert_absent(enclave, secrets | sealing | hidden | {"password": PASSWORD.encode()})


def test_a_closed_instance_is_empty(recorder, credential, key):
    enclave, _, _ = made(recorder, credential, key)
    assert any(memory_of(enclave))
    enclave.close()
    assert not any(memory_of(enclave))
