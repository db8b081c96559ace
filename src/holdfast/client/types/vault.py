"""Types for a vault's state and the calls to it: interface section "Client-side types", Vault state."""

from __future__ import annotations

from typing import Generic, TypeVar

from holdfast.client.types.base import Octets, Record
from holdfast.client.types.identity import Account, Credential, VerificationMethod  # noqa: TC001 - msgspec reads annotations at run time

T = TypeVar("T")


class LoadInput(Record, frozen=True, kw_only=True):
    """The sealed database to load."""

    database: Octets


class LoadOutput(Record, frozen=True, kw_only=True):
    """Whether the vault was loaded, and its DID."""

    success: bool
    did: str | None = None
    error: str | None = None


class LockOutput(Record, frozen=True, kw_only=True):
    """The sealed database, which the client stores until it is unlocked again."""

    success: bool
    database: Octets | None = None
    error: str | None = None


class UnlockInput(Record, frozen=True, kw_only=True):
    """The sealed database to unlock."""

    database: Octets


class UnlockOutput(Record, frozen=True, kw_only=True):
    """Whether the vault was unlocked, and its DID."""

    success: bool
    did: str | None = None
    error: str | None = None


class StatusOutput(Record, frozen=True, kw_only=True):
    """The vault's state. `did` is None before a vault exists; `last_activity` in ISO 8601."""

    locked: bool
    initialized: bool
    did: str | None = None
    last_activity: str | None = None


class QueryInput(Record, frozen=True, kw_only=True):
    """The DID whose document is to be read; empty for the vault's own DID."""

    did: str


class QueryOutput(Record, frozen=True, kw_only=True):
    """The data that the vault contains about a DID."""

    did: str
    controller: str
    verification_methods: tuple[VerificationMethod, ...]
    accounts: tuple[Account, ...]
    credentials: tuple[Credential, ...]


class ExecInput(Record, frozen=True, kw_only=True):
    """An action on a resource, as `resource:<name> action:<name>`, optionally under a delegation."""

    filter: str
    token: str | None = None


class ExecOutput(Record, Generic[T], frozen=True, kw_only=True):
    """The result of an action."""

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
    """The DID of the imported vault, and how many records were imported."""

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
    """An exported vault, and the password that decrypts it."""

    data: Octets
    password: str

    def __repr__(self) -> str:
        return f"VaultImportOptions(data=<{len(self.data)} bytes>, password=<hidden>)"
