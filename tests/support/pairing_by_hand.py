"""The old device's side of a pairing, implemented from docs/pairing.md, so that tests can send invalid vaults."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from holdfast.enclave import Enclave


def paired(new: Enclave, database: bytes, key: dict[str, str]) -> dict[str, Any]:
    """Pair with the new device, send it this database, and return the result of its `sync_complete`."""
    own = ec.generate_private_key(ec.SECP256R1())
    point = own.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    first = new.call("sync_init")
    session = first["session_id"]
    shown = new.call("sync_compare", session_id=session, public_key=point.hex())
    theirs = bytes.fromhex(first["public_key"])
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
    seen = bytes.fromhex(session) + theirs + point + bytes.fromhex(shown["reveal"])
    transcript = hashlib.sha256(b"holdfast/sync/v1/transcript" + seen).digest()
    channel = HKDF(SHA256(), 32, transcript, b"holdfast/sync/v1/vault").derive(shared)
    nonce = os.urandom(12)
    sent = nonce + AESGCM(channel).encrypt(nonce, database, transcript)
    return new.call("sync_complete", session_id=session, code=shown["code"], encrypted_vault=sent, key=key)


def pair(old: Enclave, new: Enclave, key: dict[str, str]) -> None:
    """Move the vault from `old` to `new`, performing every step in both enclaves."""
    first = new.call("sync_init")
    session = {"session_id": first["session_id"]}
    answer = old.call("sync_respond", **session, public_key=first["public_key"])
    shown = new.call("sync_compare", **session, public_key=answer["public_key"])
    old.call("sync_compare", **session, reveal=shown["reveal"])
    sent = old.call("sync_respond", **session, code=shown["code"])["encrypted_vault"]
    assert new.call("sync_complete", **session, code=shown["code"], encrypted_vault=sent, key=key)["success"] is True
