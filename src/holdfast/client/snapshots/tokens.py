"""Bearer tokens for Holdfast's service: UCAN invocations of `/snapshots/write` by the vault's key (decision 0621).

The vault keeps a row of each invocation that it mints, and every row is a change, which would go up with another token.
So the envelope is written here and only signed by the vault, which changes nothing in it.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.content import ipld
from holdfast.wire.encoding import to_base64url

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.vault.async_vault import AsyncVault

WRITE = "/snapshots/write"
LIFETIME_S = 300
_NONCE_BYTES = 12
# Varsig 1: ECDSA over P-256 with SHA-256, payload in DAG-CBOR.
_VARSIG = bytes.fromhex("3401ec0180241271")
_TAG = "ucan/inv@1.0.0"
_LOOPBACK = ("127.0.0.1", "::1")


def did_of_service(url: str) -> str:
    """The did:web of a service's address: whom a token is made out to, so that no other service can use it.

    A loopback address counts as localhost, the host of a service's own address unless it is set.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = "localhost" if host in _LOOPBACK else host
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"did:web:{host}" if parts.port in {None, default} else f"did:web:{host}%3A{parts.port}"


async def bearer_token(vault: AsyncVault, audience: str, now: Callable[[], float] = time.time) -> str:
    """A token for one upload, or one pin and its polling; it lives five minutes. The vault must be open."""
    issuer, did = await vault.did_key(), (await vault.status()).did
    begins = int(now())
    payload: dict[str, Any] = {
        "iss": issuer,
        "sub": did,
        "aud": audience,
        "cmd": WRITE,
        "args": {},
        "prf": [],
        "nonce": secrets.token_bytes(_NONCE_BYTES),
        "iat": begins,
        "exp": begins + LIFETIME_S,
    }
    signed = {"h": _VARSIG, _TAG: payload}
    signature = await vault.sign(hashlib.sha256(ipld.encode(signed)).digest())
    token = ipld.encode([bytes(signature.signature), signed])
    return "C" + to_base64url(ipld.encode({"ctn-v1": [token]}))
