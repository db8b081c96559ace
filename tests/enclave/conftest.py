"""What the enclave's tests share: a credential, a key-encryption key, an open vault."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from holdfast.enclave import Enclave

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = {"kind": "secret", "secret": base64.b64encode(hashlib.sha256(b"host key").digest()).decode()}


def registration(seed: int = 7) -> bytes:
    """A PublicKeyCredential of attestation format "none", as a browser's toJSON() writes it."""
    import cbor2

    numbers = ec.derive_private_key(seed, ec.SECP256R1()).public_key().public_numbers()
    cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}, canonical=True)
    credential_id = hashlib.sha256(b"credential %d" % seed).digest()
    data = hashlib.sha256(b"localhost").digest() + b"\x45" + struct.pack(">I", 0)
    data += bytes(16) + struct.pack(">H", len(credential_id)) + credential_id + cose
    attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}, canonical=True)
    client_data = {"type": "webauthn.create", "challenge": url(b"challenge"), "origin": "http://localhost:8787"}
    return json.dumps(
        {
            "id": url(credential_id),
            "rawId": url(credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": url(json.dumps(client_data).encode()),
                "attestationObject": url(attestation),
                "transports": ["internal"],
            },
        }
    ).encode()


def url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.fixture(scope="session")
def primitives(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module's primitives on their own (primitives.py); compiled once, in half a minute."""
    spec = importlib.util.spec_from_file_location("enclave_primitives", Path(__file__).with_name("primitives.py"))
    assert spec and spec.loader
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    return file.Primitives(file.compiled(tmp_path_factory.mktemp("primitives")))


@pytest.fixture
def credential() -> bytes:
    return registration()


@pytest.fixture
def key() -> dict[str, str]:
    return dict(KEY)


@pytest.fixture
def enclave() -> Iterator[Enclave]:
    with Enclave() as instance:
        yield instance


@pytest.fixture
def generated(enclave: Enclave, credential: bytes, key: dict[str, str]) -> dict[str, Any]:
    return enclave.call("generate", credential=credential, key=key, device_name="test")


@pytest.fixture
def vault(enclave: Enclave, generated: dict[str, Any]) -> Enclave:
    assert generated["did"]
    return enclave


@pytest.fixture
def secp_vault(credential: bytes, key: dict[str, str]) -> Iterator[Enclave]:
    with Enclave() as instance:
        instance.call("generate", credential=credential, key=key, curve="secp256k1")
        yield instance
