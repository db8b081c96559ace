"""DID documents of `did:new` and of the service's own `did:web` (W3C DID Core 1.0; docs/did-method.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from holdfast.rules.dids import parse_did
from holdfast.wire.encoding import to_base64url
from holdfast.wire.errors import Refused
from holdfast.wire.failures import DID_INVALID, DID_METHOD_UNKNOWN, SnapshotRefused
from holdfast.wire.keccak import checksum_address, did_of_key
from holdfast.wire.p256 import on_curve

Document = dict[str, Any]

_METHOD = "did:new:"
_NEW = re.compile(r"did:new:0x[0-9a-f]{64}")
_DID_WEB = re.compile(r"did:web:[^:/?#]+")
_CORE = "https://www.w3.org/ns/did/v1"
_KEYS = "https://w3id.org/security/jwk/v1"
_ACCOUNTS = "https://w3id.org/security/suites/blockchain-2021/v1"
_FIRST_KEY = "#key-1"  # the name that the enclave gives it


@dataclass(frozen=True, slots=True)
class OnChain:
    """What the registry and the controlling account say about a DID.

    Attributes:
        controller: the 20-byte address that controls the DID.
        active: whether the DID is active.
        key: X and Y of the account's primary P-256 key; None if the controller names none.
    """

    controller: bytes
    active: bool
    key: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class RegistryLocation:
    """Where DIDs are registered: the chain's ID (EIP-155) and the registry's 20-byte address."""

    chain_id: int
    registry: bytes

    def account(self, address: bytes) -> str:
        """Return an address on this chain as CAIP-10 writes it."""
        return f"eip155:{self.chain_id}:{checksum_address(address)}"


def parse_new(text: str) -> str:
    """Return the `did:new`. Raises SnapshotRefused: DID_INVALID, or DID_METHOD_UNKNOWN for another method's DID."""
    try:
        did = parse_did(text)
    except Refused:
        raise SnapshotRefused(DID_INVALID) from None
    if not did.startswith(_METHOD):
        raise SnapshotRefused(DID_METHOD_UNKNOWN)
    if not _NEW.fullmatch(did):
        raise SnapshotRefused(DID_INVALID, "a did:new is did:new:0x and 64 lower-case hex digits")
    return did


def document_of(did: str, found: OnChain | None, location: RegistryLocation) -> Document:
    """Return the document of a `did:new`.

    A deactivated DID's document names nothing, and neither does that of a DID that is not on the chain: no key or
    account of it has been proven.
    """
    if found is None or not found.active:
        return {"@context": [_CORE], "id": did}
    account = _account_method(did, found, location)
    if found.key is None:
        methods, keys = [account], []
    else:
        key = _key_method(did, *found.key)
        methods, keys = [key, account], [key["id"]]
    return {
        "@context": [_CORE, _KEYS, _ACCOUNTS],
        "id": did,
        "controller": f"did:pkh:{location.account(found.controller)}",
        "verificationMethod": methods,
        "authentication": [*keys, account["id"]],
        "assertionMethod": [*keys, account["id"]],
        "capabilityInvocation": keys,
        "capabilityDelegation": keys,
    }


def metadata_of(did: str, found: OnChain | None, location: RegistryLocation) -> Document:
    """Return the document's metadata, which says what was proven, and by what.

    `key` is `did` if the key's hash is the DID, which anyone can check, `account` if the controlling account names
    another key. `controller` is `registry` if the chain's registry names it. Whether the DID is registered at this
    service is told only by a document in which nothing is proven.
    """
    shown = found is not None and found.active
    key = found.key if found is not None and found.active else None
    return {
        "deactivated": found is not None and not found.active,
        "registry": location.account(location.registry),
        "proven": {
            "controller": "registry" if shown else None,
            "key": None if key is None else "did" if did_of_key(*key) == did else "account",
        },
    }


def key_of(x: bytes, y: bytes) -> tuple[int, int] | None:
    """Return the coordinates as numbers; None if they are not a P-256 key."""
    key = int.from_bytes(x), int.from_bytes(y)
    return key if on_curve(*key) else None


def service_document(did: str, address: str, *, snapshots: bool) -> Document | None:
    """Return the document of the service's own `did:web`; None if this service cannot serve it at its address.

    It names no key: the service signs nothing that others could check.

    Args:
        did: the service's DID. A did:web with a path has its document elsewhere.
        address: the service's public URL.
        snapshots: whether the service keeps snapshots.
    """
    if not _DID_WEB.fullmatch(did):
        return None
    services = [("vault", "HoldfastVault", address), ("resolver", "DIDResolver", f"{address}/1.0/identifiers/")]
    if snapshots:
        services.append(("ipfs", "IpfsGateway", f"{address}/ipfs/"))
    named = [{"id": f"{did}#{name}", "type": kind, "serviceEndpoint": url} for name, kind, url in services]
    return {"@context": [_CORE], "id": did, "service": named}


def _key_method(did: str, x: int, y: int) -> Document:
    own = did_of_key(x, y)
    jwk = {"kty": "EC", "crv": "P-256", "x": to_base64url(x.to_bytes(32)), "y": to_base64url(y.to_bytes(32))}
    # A later key is named by its own hash, so that no name ever means two keys.
    name = _FIRST_KEY if own == did else "#" + own.removeprefix(_METHOD)
    return {"id": did + name, "type": "JsonWebKey", "controller": did, "publicKeyJwk": jwk}


def _account_method(did: str, found: OnChain, location: RegistryLocation) -> Document:
    return {
        "id": f"{did}#account",
        "type": "BlockchainVerificationMethod2021",
        "controller": did,
        "blockchainAccountId": location.account(found.controller),
    }
