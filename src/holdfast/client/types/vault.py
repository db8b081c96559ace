"""Vault state (interface section "Client-side types", Vault state)."""

from __future__ import annotations

from typing import Generic, TypeVar

from holdfast.client.types.base import Octets, Record
from holdfast.client.types.identity import Account, Credential, VerificationMethod  # noqa: TC001 - msgspec reads annotations at run time

T = TypeVar("T")


class LoadInput(Record, frozen=True, kw_only=True):
    """The sealed database to load."""

    database: Octets


class LoadOutput(Record, frozen=True, kw_only=True):
    """Whether it was loaded, and whose it is."""

    success: bool
    did: str | None = None
    error: str | None = None


class LockOutput(Record, frozen=True, kw_only=True):
    """The sealed database, to be kept by the client for the next unlock."""

    success: bool
    database: Octets | None = None
    error: str | None = None


class UnlockInput(Record, frozen=True, kw_only=True):
    """The sealed database to open."""

    database: Octets


class UnlockOutput(Record, frozen=True, kw_only=True):
    """Whether it was opened, and whose it is."""

    success: bool
    did: str | None = None
    error: str | None = None


class StatusOutput(Record, frozen=True, kw_only=True):
    """The vault's state. `did` is None before there is a vault; `last_activity` in ISO 8601."""

    locked: bool
    initialized: bool
    did: str | None = None
    last_activity: str | None = None


class QueryInput(Record, frozen=True, kw_only=True):
    """Whose document to read; empty: the vault's own."""

    did: str


class QueryOutput(Record, frozen=True, kw_only=True):
    """What the vault knows of a DID."""

    did: str
    controller: str
    verification_methods: tuple[VerificationMethod, ...]
    accounts: tuple[Account, ...]
    credentials: tuple[Credential, ...]


class ExecInput(Record, frozen=True, kw_only=True):
    """One action on one resource: `resource:<name> action:<name>`, perhaps under a delegation."""

    filter: str
    token: str | None = None


class ExecOutput(Record, Generic[T], frozen=True, kw_only=True):
    """What an action came to."""

    success: bool
    result: T | None = None
    error: str | None = None


class VaultExportOutput(Record, frozen=True, kw_only=True):
    """The vault in MTRV format; `exported_at` in ISO 8601."""

    success: bool
    data: Octets | None = None
    did: str | None = None
    exported_at: str | None = None
    error: str | None = None


class VaultImportOutput(Record, frozen=True, kw_only=True):
    """Whose vault was imported, and how much of it."""

    success: bool
    did: str | None = None
    accounts: int | None = None
    credentials: int | None = None
    error: str | None = None


class VaultExportOptions(Record, frozen=True, kw_only=True):
    """The password from which Argon2id derives the AES-256-GCM key of the export."""

    password: str

    def __repr__(self) -> str:
        return "VaultExportOptions(password=<hidden>)"


class VaultImportOptions(Record, frozen=True, kw_only=True):
    """An export and its password."""

    data: Octets
    password: str

    def __repr__(self) -> str:
        return f"VaultImportOptions(data=<{len(self.data)} bytes>, password=<hidden>)"
