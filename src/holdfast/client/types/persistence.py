"""Vault persistence (interface section "Client-side types", Vault persistence)."""

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
    """Where vaults are kept."""

    db_name: str = msgspec.field(name="dbName", default=DEFAULT_DB_NAME)


class VaultSnapshotConfig(Record, frozen=True, kw_only=True):
    """Where missing blocks are read: the address of an IPFS gateway."""

    gateway_url: str | None = msgspec.field(name="gatewayUrl", default=None)


class PinStatus(StrEnum):
    """Status of a pin: queued, pinning, then pinned or failed; failed becomes queued on retry."""

    QUEUED = "queued"
    PINNING = "pinning"
    PINNED = "pinned"
    FAILED = "failed"


class PinRequest(Record, frozen=True, kw_only=True):
    """What to pin. `name` has at most 255 characters."""

    cid: str
    name: Annotated[str, msgspec.Meta(max_length=MAX_PIN_NAME_CHARACTERS)] | None = None
    origins: tuple[str, ...] | None = None
    meta: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if self.name is not None and len(self.name) > MAX_PIN_NAME_CHARACTERS:
            raise ValueError(f"a pin's name has at most {MAX_PIN_NAME_CHARACTERS} characters")


class PinInfo(Record, frozen=True, kw_only=True):
    """A pin as the pinning service reports it; `delegates` are addresses to which blocks can be sent."""

    request_id: str = msgspec.field(name="requestId")
    status: PinStatus
    created: str
    pin: PinRequest
    delegates: tuple[str, ...]
