"""Makes the second key of an account from a vault, a passkey, or the private key of an ordinary address."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Protocol

from holdfast.chain.assertions import encode_assertion, placeholder_assertion
from holdfast.chain.bundler import SECOND_P256, WEBAUTHN
from holdfast.chain.signers import p256_signer
from holdfast.client.flows.second_key import SecondKey
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from collections.abc import Callable

    from eth_keys.datatypes import PrivateKey

    from holdfast.client.types import SignResult
    from holdfast.client.vault.own_key import OwnKey


class SigningVault(Protocol):
    """An unlocked `holdfast.Vault`."""

    def own_key(self) -> OwnKey:
        """Return the vault's key."""

    def sign(self, digest: bytes) -> SignResult:
        """Sign 32 bytes."""


def key_of_vault(vault: SigningVault) -> SecondKey:
    """Return the key of another unlocked vault."""
    own, gas = vault.own_key(), SECOND_P256.verification_gas
    signer = p256_signer(own.x, own.y)
    return SecondKey(signer, lambda digest: bytes(vault.sign(digest).signature), verification_gas=gas)


def key_of_address(key: PrivateKey) -> SecondKey:
    """Return the key of an ordinary address."""
    return SecondKey(key.public_key.to_canonical_address(), lambda digest: _ethereum(key, digest), bytes(64) + b"\x1b")


def key_of_passkey(signer: bytes, assertion: Callable[[bytes], str]) -> SecondKey:
    """Return a passkey that is an owner itself.

    Args:
        signer: its public key, X and Y.
        assertion: returns the base64 of an assertion's JSON for a challenge (`Authenticator.assertion`).
    """
    placeholder, gas = placeholder_assertion(), WEBAUTHN.verification_gas
    return SecondKey(signer, lambda digest: signature_in(assertion(digest)), placeholder, gas)


def signature_in(assertion: str) -> bytes:
    """Return the account's form of a passkey's signature. Raises ValueError, ChainError."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    answer = json.loads(base64.b64decode(assertion))["response"]
    signature, data, client = (
        from_base64url(answer[name]) for name in ("signature", "authenticatorData", "clientDataJSON")
    )
    return encode_assertion(*decode_dss_signature(signature), data, client)


def _ethereum(key: PrivateKey, digest: bytes) -> bytes:
    made = key.sign_msg_hash(digest)
    r, s, parity = int(made.r), int(made.s), int(made.v)
    return r.to_bytes(32) + s.to_bytes(32) + bytes([27 + parity])
