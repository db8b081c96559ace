"""Types for UCANs: interface section "Client-side types", UCAN."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from holdfast.client.types.base import Record


class Resource(StrEnum):
    """The kinds of resources that a delegation can be about; the vault has a table for each kind."""

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
    """A delegation's audience, commands, expiry (seconds since 1970) and limits."""

    to: str
    command: str
    expiration: int | None = None
    caveats: dict[str, Any] | None = None


class InvocationOptions(Record, frozen=True, kw_only=True):
    """An invocation's action, arguments and delegation."""

    command: str
    args: dict[str, Any] | None = None
    token: str | None = None
