"""Types for pairing devices: interface section "Client-side types", Sync."""

from __future__ import annotations

from holdfast.client.types.base import Record


class SyncInitResult(Record, frozen=True, kw_only=True):
    """The new device's ephemeral key, and the time until which the device will wait (ISO 8601)."""

    success: bool
    session_id: str | None = None
    public_key: str | None = None
    expires_at: str | None = None
    error: str | None = None


class SyncRespondResult(Record, frozen=True, kw_only=True):
    """The responding device's ephemeral key, and the vault (base64), encrypted under a key derived from both keys."""

    success: bool
    session_id: str | None = None
    public_key: str | None = None
    encrypted_vault: str | None = None
    status: str | None = None
    error: str | None = None


class SyncCompleteResult(Record, frozen=True, kw_only=True):
    """The received vault."""

    success: bool
    session_id: str | None = None
    did: str | None = None
    status: str | None = None
    error: str | None = None
