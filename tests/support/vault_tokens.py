"""A vault's P-256 key in software, and UCAN tokens signed with it, including ones that the enclave would never mint."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.curves import P256_ORDER

from holdfast.content import dag_cbor
from holdfast.content.bases import to_multibase
from holdfast.wire.keccak import did_of_key
from holdfast.wire.p256 import low_s

AUDIENCE = "did:web:localhost%3A8787"  # the registrar of a service with default settings
VARSIG = bytes.fromhex("3401ec0180241271")


@dataclass
class VaultKey:
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    @property
    def did(self) -> str:
        point = self.private.public_key().public_numbers()
        return did_of_key(point.x, point.y)

    @property
    def did_key(self) -> str:
        point = self.private.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        return "did:key:" + to_multibase("z", bytes.fromhex("8024") + point)

    def envelope(self, claims: dict[str, Any], tag: str = "ucan/inv@1.0.0-rc.1", header: bytes = VARSIG) -> bytes:
        signed = dag_cbor.encode({"h": header, tag: claims})
        return dag_cbor.encode([self.signature(signed), dag_cbor.decode(signed)])

    def signature(self, signed: bytes) -> bytes:
        r, s = decode_dss_signature(self.private.sign(signed, ec.ECDSA(SHA256())))
        return r.to_bytes(32) + low_s(s).to_bytes(32)

    def invocation(self, now: float, **changed: Any) -> dict[str, Any]:
        """Return the claims of an ordinary token, omitting those that are passed as `...`."""
        claims = {
            "iss": self.did_key, "sub": self.did, "aud": AUDIENCE, "cmd": "/snapshots/write", "args": {}, "prf": [],
            "nonce": os.urandom(12), "iat": int(now), "exp": int(now) + 300,
        }  # fmt: skip
        return {name: value for name, value in {**claims, **changed}.items() if value is not ...}

    def bearer(self, now: float, **changed: Any) -> dict[str, str]:
        return {"Authorization": f"Bearer {container(self.envelope(self.invocation(now, **changed)))}"}

    def delegation(self, public_key: bytes, now: float, **changed: Any) -> bytes:
        audience = "did:key:" + to_multibase("z", bytes.fromhex("ed01") + public_key)
        claims: dict[str, Any] = {
            "iss": self.did_key, "sub": self.did, "aud": audience, "cmd": "/snapshots/publish", "pol": [],
            "nonce": os.urandom(12), "exp": None,
        }  # fmt: skip
        given = {name: value for name, value in {**claims, **changed}.items() if value is not ...}
        return self.envelope(given, "ucan/dlg@1.0.0-rc.1")


def container(*tokens: bytes) -> str:
    """Return a container of tokens as text: base64url, uncompressed."""
    data = dag_cbor.encode({"ctn-v1": list(tokens)})
    return "C" + base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def twin(token: bytes) -> bytes:
    return token[:35] + (P256_ORDER - int.from_bytes(token[35:67])).to_bytes(32) + token[67:]
