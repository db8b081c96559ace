"""Types for passkeys: interface section "Client-side types", WebAuthn."""

from __future__ import annotations

from typing import Literal

import msgspec

from holdfast.client.types.base import Octets, Record

DEFAULT_TIMEOUT_MS = 60_000


class CreatePasskeyResult(Record, frozen=True, kw_only=True):
    """A new passkey: base64 of the serialised credential, and its ID in base64url."""

    credential: str
    credential_id: str = msgspec.field(name="credentialId")


class CredentialDescriptor(Record, frozen=True, kw_only=True):
    """A credential that an authenticator may hold (W3C WebAuthn, PublicKeyCredentialDescriptor)."""

    id: Octets
    type: Literal["public-key"]
    transports: tuple[str, ...] | None = None


class CreatePasskeyOptions(Record, frozen=True, kw_only=True):
    """Options for creating a passkey. `rp_id` defaults to the service's domain, `timeout` is in milliseconds."""

    rp_name: str = msgspec.field(name="rpName", default="Holdfast")
    rp_id: str | None = msgspec.field(name="rpId", default=None)
    timeout: int = DEFAULT_TIMEOUT_MS
    exclude_credentials: tuple[CredentialDescriptor, ...] | None = msgspec.field(
        name="excludeCredentials", default=None
    )


class DeviceCapabilities(Record, frozen=True, kw_only=True):
    """The passkey features that this machine offers."""

    web_authn_supported: bool = msgspec.field(name="webAuthnSupported")
    platform_auth_available: bool = msgspec.field(name="platformAuthAvailable")
    conditional_mediation_available: bool = msgspec.field(name="conditionalMediationAvailable")
