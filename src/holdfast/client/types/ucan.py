"""UCAN (interface section "Client-side types", UCAN)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from holdfast.client.types.base import Record


class Resource(StrEnum):
    """What a delegation is about; the vault has a table for each kind."""

    ACCOUNTS = "accounts"
    CREDENTIALS = "credentials"
    SESSIONS = "sessions"
    GRANTS = "grants"
    ENCLAVES = "enclaves"
    DELEGATIONS = "delegations"
    UCANS = "ucans"
    VERIFICATION_METHODS = "verification_methods"
    SERVICES = "services"
    SERVICE_CONFIGS = "service_configs"
    TOKENS = "tokens"
    INVOCATIONS = "invocations"
    SYNC = "sync"
    OIDC = "oidc"


class DelegationOptions(Record, frozen=True, kw_only=True):
    """Audience, commands, expiry (seconds since 1970) and limits of a delegation."""

    to: str
    command: str
    expiration: int | None = None
    caveats: dict[str, Any] | None = None


class InvocationOptions(Record, frozen=True, kw_only=True):
    """Action, arguments and delegation of an invocation."""

    command: str
    args: dict[str, Any] | None = None
    token: str | None = None
