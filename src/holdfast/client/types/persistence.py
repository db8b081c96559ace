"""Types for stored vaults: interface section "Client-side types", Vault persistence."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from holdfast.client.types.base import Record

DEFAULT_DB_NAME = "holdfast-vault"
MAX_PIN_NAME_CHARACTERS = 255


class VaultManifest(Record, frozen=True, kw_only=True):
    """Facts about a stored vault. `root_cid` is None before the first snapshot; `updated_at` in Unix ms."""

    root_cid: str | None = msgspec.field(name="rootCid")
    did: str
    updated_at: int = msgspec.field(name="updatedAt")
    wasm_version: str = msgspec.field(name="wasmVersion")
    schema_version: Literal[1] = msgspec.field(name="schemaVersion")


class VaultStoreConfig(Record, frozen=True, kw_only=True):
    """Where vaults are stored."""

    db_name: str = msgspec.field(name="dbName", default=DEFAULT_DB_NAME)


class VaultSnapshotConfig(Record, frozen=True, kw_only=True):
    """The address of the IPFS gateway from which missing blocks are fetched."""

    gateway_url: str | None = msgspec.field(name="gatewayUrl", default=None)


class SnapshotConfig(VaultSnapshotConfig, frozen=True, kw_only=True):
    """Where snapshots are stored and read, by default on the client's service.

    These settings extend the interface's `VaultSnapshotConfig`.

    Attributes:
        gateway_urls: more gateways for blocks and records, tried in this order.
        upload_url: accepts CAR files as Kubo's RPC does, and IPNS records.
        pinning_url: speaks the Pinning Service API; "" for none, as with a Kubo node, which pins what it imports.
        access_token: for a pinning service other than Holdfast's; for Holdfast's, the vault's key signs tokens.
        service_did: the audience of the vault's tokens for the service and for uploads; by default, and for a pinning
            service elsewhere, the did:web of each server.
        automatic: whether every change is uploaded automatically.
        debounce_s: how many seconds without a change must pass before an upload.
        pinned: how many snapshots stay pinned at the service.
    """

    gateway_urls: tuple[str, ...] = msgspec.field(name="gatewayUrls", default=())
    upload_url: str | None = msgspec.field(name="uploadUrl", default=None)
    pinning_url: str | None = msgspec.field(name="pinningUrl", default=None)
    access_token: str | None = msgspec.field(name="accessToken", default=None)
    service_did: str | None = msgspec.field(name="serviceDid", default=None)
    automatic: bool = True
    debounce_s: float = msgspec.field(name="debounceS", default=2.0)
    pinned: int = 10

    def __repr__(self) -> str:
        """Leave out the access token."""
        return f"SnapshotConfig(upload_url={self.upload_url!r}, gateway_urls={self.gateways!r})"

    @property
    def gateways(self) -> tuple[str, ...]:
        """Return all gateways, with the interface's `gateway_url` first."""
        return (*([self.gateway_url] if self.gateway_url else []), *self.gateway_urls)


class PinStatus(StrEnum):
    """Status of a pin: queued, pinning, then pinned or failed; failed becomes queued on retry."""

    QUEUED = "queued"
    PINNING = "pinning"
    PINNED = "pinned"
    FAILED = "failed"


class PinRequest(Record, frozen=True, kw_only=True):
    """A request to pin a root (Pinning Service API, "Pin").

    Attributes:
        cid: the root.
        name: at most 255 characters.
        origins: at most 20 different multiaddrs of peers that have the blocks, each ending in `/p2p/` and a peer ID.
        meta: at most 1,000 texts by name.
    """

    cid: str
    name: Annotated[str, msgspec.Meta(max_length=MAX_PIN_NAME_CHARACTERS)] | None = None
    origins: tuple[str, ...] | None = None
    meta: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if self.name is not None and len(self.name) > MAX_PIN_NAME_CHARACTERS:
            raise ValueError(f"a pin's name has at most {MAX_PIN_NAME_CHARACTERS} characters")


class PinInfo(Record, frozen=True, kw_only=True):
    """A pin as the pinning service reports it; `delegates` are the multiaddrs of peers that accept the pin's blocks."""

    request_id: str = msgspec.field(name="requestId")
    status: PinStatus
    created: str
    pin: PinRequest
    delegates: tuple[str, ...]
