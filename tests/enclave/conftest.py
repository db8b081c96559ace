"""Fixtures for the enclave's tests: a credential, a key-encryption key and an unlocked vault."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import wasmtime
from tests.support.credentials import KEY, registration
from tests.support.made_once import made_of
from tests.support.programs import program

from holdfast.enclave import Enclave

ENCLAVE = Path(__file__).resolve().parents[2] / "enclave"
MODULE = "primitives.wasm"
CALLS = ("buffer", "seal", "open", "hkdf", "argon2id", "argon2id_unbounded", "passkey", "pairing", "ed25519_sign")


def sources():
    lock = ENCLAVE.parent / "requirements" / "dev.lock"
    return [*(path for path in ENCLAVE.rglob("*") if path.is_file() and ".zig-cache" not in path.parts), lock]


def compile_into(folder):
    """Compile enclave/test/primitives.zig as the root file, next to a copy of the module's sources."""
    build = program("enclave/build.py")
    shutil.copytree(ENCLAVE / "src", folder / "src")
    shutil.copyfile(ENCLAVE / "test" / "primitives.zig", folder / "src" / "primitives.zig")
    # The module's memory limit is left out, because one of the vectors needs 128 MiB.
    flags = [flag for flag in build.MODULE_FLAGS if not flag.startswith(("--export=", "--max-memory="))]
    flags = ["-Menclave=src/primitives.zig" if flag.startswith("-Menclave=") else flag for flag in flags]
    exports = [f"--export=vector_{name}" for name in CALLS]
    objects = [str(build.object_of(part, build.cache_directory())) for part in build.PARTS]
    _zig(build, folder, build.FAST_OBJECT)
    _zig(build, folder, ("build-exe", *objects, "fast.o", f"-femit-bin={MODULE}", *exports, *flags))


def _zig(build, folder, arguments):
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(build.cache_directory() / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / ".zig")}
    command, environment = [sys.executable, "-m", "ziglang", *arguments], {**os.environ, **caches}
    ran = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=400)
    assert ran.returncode == 0, ran.stderr


class Primitives:
    """The functions in enclave/test/primitives.zig; input and output are bytes, and None means a refusal."""

    def __init__(self, module):
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        # There are no imports, because the tested functions need neither the host nor randomness.
        instance = wasmtime.Instance(self._store, wasmtime.Module.from_file(engine, str(module)), [])
        exports = instance.exports(self._store)  # the exported functions and the memory
        self._exports = exports
        self._memory = self._exports["memory"]
        self._exports["_initialize"](self._store)
        self._address = self._exports["vector_buffer"](self._store)

    def seal(self, key, nonce, associated, plain):
        return self._call("seal", key + nonce + associated + plain, len(associated), len(plain))

    def open(self, key, nonce, associated, sealed):
        return self._call("open", key + nonce + associated + sealed, len(associated), len(sealed))

    def hkdf(self, secret, salt, info):
        return self._call("hkdf", secret + salt + info, len(secret), len(salt), len(info))

    def argon2id(self, password, salt, *, memory, passes, lanes):
        return self._call("argon2id", password + salt, len(password), len(salt), memory, passes, lanes)

    def argon2id_unbounded(self, parts, *, memory, passes, lanes, size):
        """`parts` are password, salt, secret and associated data."""
        lengths = [len(part) for part in parts]
        return self._call("argon2id_unbounded", b"".join(parts), *lengths, memory, passes, lanes, size)

    def passkey(self, cose, message, signature):
        answer = self._call("passkey", cose + message + signature, len(cose), len(message), len(signature))
        return answer is not None

    def ed25519_sign(self, seed, message):
        return self._call("ed25519_sign", seed + message, len(message))

    def pairing(self, secret, peer, transcript):
        return self._call("pairing", secret + peer + transcript)

    def _call(self, name, data, *numbers):
        self._memory.write(self._store, data, self._address)
        length = self._exports[f"vector_{name}"](self._store, *numbers)
        return None if length < 0 else bytes(self._memory.read(self._store, self._address, self._address + length))


@pytest.fixture(scope="session")
def primitives():
    """The module's primitives without the vault (enclave/test/primitives.zig); compiling them takes half a minute."""
    folder = made_of(sources(), "primitives", compile_into)
    return Primitives(folder / MODULE)


@pytest.fixture
def credential():
    return registration()


@pytest.fixture
def key():
    return dict(KEY)


@pytest.fixture
def enclave():
    with Enclave() as instance:
        yield instance


@pytest.fixture
def generated(enclave, credential, key):
    return enclave.call("generate", credential=credential, key=key, device_name="test")


@pytest.fixture
def vault(enclave, generated):
    assert generated["did"]
    return enclave
