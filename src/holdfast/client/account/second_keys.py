"""Makes the second key of an account from a vault, a passkey, or the private key of an ordinary address."""

from __future__ import annotations

import base64
import json
import secrets
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from holdfast.chain.assertions import encode_assertion, placeholder_assertion
from holdfast.chain.gas import SECOND_P256, WEBAUTHN
from holdfast.chain.signers import p256_signer
from holdfast.client.flows.second_key import SecondKey
from holdfast.enclave.host import Enclave
from holdfast.wire.client_errors import WebAuthnError
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.account_reads import Owner
    from holdfast.client.passkeys import Authenticator
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
    own, gas = vault.own_key(), SECOND_P256
    signer = p256_signer(own.x, own.y)
    return SecondKey(signer, lambda digest: bytes(vault.sign(digest).signature), verification_gas=gas)


def key_of_address(key: PrivateKey) -> SecondKey:
    """Return the key of an ordinary address."""
    return SecondKey(key.public_key.to_canonical_address(), lambda digest: _ethereum(key, digest), bytes(64) + b"\x1b")


def key_of_passkey(signer: bytes, assertions: Callable[[bytes], list[str]]) -> SecondKey:
    """Return a passkey that is an owner itself.

    Args:
        signer: its public key, X and Y.
        assertions: returns the base64 of assertions' JSON for a challenge (`Authenticator.assertions`). Signing raises
            WebAuthnError if this passkey made none of them.
    """

    def sign(digest: bytes) -> bytes:
        for made in assertions(digest):
            if signer in signers_in(made):
                return signature_in(made)
        raise WebAuthnError(f"another passkey signed than the owner 0x{signer.hex()}: use that one")

    return SecondKey(signer, sign, placeholder_assertion(), WEBAUTHN)


def passkey_among(owners: Iterable[Owner], sources: Sequence[Authenticator]) -> SecondKey | None:
    """Use a passkey once, and return it as an owner; None unless its signature is valid for one.

    Raises WebAuthnError.
    """
    now = time.time()
    signers = {owner.signer for owner in owners if owner.signs_at(now)}
    return next((key_of_passkey(*used) for used in used_passkeys(sources) if used[0] in signers), None)


def used_passkeys(sources: Sequence[Authenticator]) -> Iterator[tuple[bytes, Callable[[bytes], list[str]]]]:
    """Use the passkeys of one source after the other; yield the signers that each may be, with what it signs with.

    Raises WebAuthnError if the last source has no passkey.
    """
    for source in sources:
        try:
            made = source.assertions(secrets.token_bytes(32))
        except WebAuthnError:
            if source is sources[-1]:
                raise
            continue
        yield from ((signer, source.assertions) for assertion in made for signer in signers_in(assertion))


def signature_in(assertion: str) -> bytes:
    """Return the account's form of a passkey's signature. Raises ValueError, ChainError."""
    return encode_assertion(*_read(assertion))


def signers_in(assertion: str) -> list[bytes]:
    """Return the two P-256 keys of which one made an assertion, as signers. Raises ValueError, ChainError."""
    _, _, data, client = _read(assertion)
    signature = signature_in(assertion)[:64]  # r and s come first
    digest = sha256(data + sha256(client).digest()).digest()
    with Enclave() as enclave:  # it has no vault
        found = enclave.call("recover_public_keys", digest=digest, signature=signature)
    return [bytes.fromhex(key)[1:] for key in found["public_keys"]]


def _read(assertion: str) -> tuple[int, int, bytes, bytes]:
    """Return r, s, the authenticator data and the client data."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    answer = json.loads(base64.b64decode(assertion))["response"]
    signature, data, client = (
        from_base64url(answer[name]) for name in ("signature", "authenticatorData", "clientDataJSON")
    )
    return *decode_dss_signature(signature), data, client


def _ethereum(key: PrivateKey, digest: bytes) -> bytes:
    made = key.sign_msg_hash(digest)
    r, s, parity = int(made.r), int(made.s), int(made.v)
    return r.to_bytes(32) + s.to_bytes(32) + bytes([27 + parity])
