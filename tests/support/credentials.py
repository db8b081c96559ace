"""A key-encryption key, and a passkey's registration as a browser returns it."""

from __future__ import annotations

import base64
import hashlib
import json
import struct

from cryptography.hazmat.primitives.asymmetric import ec

KEY = {"kind": "secret", "secret": base64.b64encode(hashlib.sha256(b"host key").digest()).decode()}


def registration(seed: int = 7) -> bytes:
    """Return a PublicKeyCredential with attestation format "none", as a browser's toJSON() writes it."""
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
