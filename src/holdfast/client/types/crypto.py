"""Types for the enclave's keys and signatures: interface section "Client-side types", Crypto / enclave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from holdfast.client.types.base import Octets, Record, octets

BinaryPayload = tuple[int, ...] | str
"""Bytes in one of the enclave's forms: numbers, base64 or 0x-hex. `payload_bytes` reads all three."""

Keccak256Fn = Callable[[bytes | str], str]
"""A type that takes bytes or 0x-hex and holds 0x-hex."""


def payload_bytes(payload: BinaryPayload) -> bytes:
    """Return a payload's bytes. Raises ValueError if it has none of the three forms."""
    return octets(payload)


class EncryptedShares(Record, frozen=True, kw_only=True):
    """The two sealed shares of a key: one for the client, and one to be stored elsewhere."""

    public_key: BinaryPayload
    public_key_hex: str | None = None
    val_share: BinaryPayload
    user_share: BinaryPayload
    nonce: BinaryPayload
    curve: Literal["P-256", "secp256k1"]
    pubkey_x: str | None = None
    pubkey_y: str | None = None


class SignResult(Record, frozen=True, kw_only=True):
    """A signature: 64 bytes r ‖ s with a low s."""

    signature: Octets


class DeriveAddressResult(Record, frozen=True, kw_only=True):
    """The address that the vault's key has on a chain."""

    address: str
    chain: str


class MintUcanResult(Record, frozen=True, kw_only=True):
    """A signed UCAN envelope in DAG-CBOR."""

    signed_dag_cbor: Octets


class ParseWebAuthnResult(Record, frozen=True, kw_only=True):
    """A WebAuthn credential as the enclave parsed it."""

    parsed: dict[str, Any]
