"""All JSON types of the service's responses.

The JSON names of fields are written out, as the interface mixes three naming styles.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Base class of all response bodies: immutable, keyword-only."""


class ErrorBody(Answer, frozen=True, kw_only=True):
    """Every error body."""

    error: str


class RelatedOrigins(Answer, frozen=True, kw_only=True):
    """GET /.well-known/webauthn (WebAuthn Level 3, section 5.11)."""

    origins: list[str]


class ContractSet(Answer, frozen=True, kw_only=True):
    """GET /api/contracts."""

    chain_id: int = msgspec.field(name="chainId")
    entry_point: str = msgspec.field(name="entryPoint")
    did_registry: str = msgspec.field(name="didRegistry")
    account_helper: str = msgspec.field(name="accountHelper")
    session_sbt: str = msgspec.field(name="sessionSBT")
    app_factory: str = msgspec.field(name="appFactory")


class Status(Answer, frozen=True, kw_only=True):
    """GET /api/status."""

    chain: str
    chain_id: int = msgspec.field(name="chainId")
    rpc: str
    database: str


class ServedChain(Answer, frozen=True, kw_only=True):
    """A chain in the response of GET /api/chains.

    Attributes:
        chain_id: EIP-155 ID.
        name: for people.
        main: whether registrations are on this chain.
        test_money: whether its coin and tokens have no value.
        rpc: its public JSON-RPC endpoint; "" if none exists.
        explorer: URL of its Blockscout; "" if none exists.
        usdc: address of USDC; None if the chain has none.
        payments: whether the service has a bundler for it, which POST /api/bundler/{chain_id} reaches.
    """

    chain_id: int = msgspec.field(name="chainId")
    name: str
    main: bool
    test_money: bool = msgspec.field(name="testMoney")
    rpc: str
    explorer: str
    usdc: str | None
    payments: bool


class ServedChains(Answer, frozen=True, kw_only=True):
    """GET /api/chains, the main chain first."""

    chains: list[ServedChain]


class PredictedAddress(Answer, frozen=True, kw_only=True):
    """GET /api/accounts/predict."""

    address: str


class AccountState(Answer, frozen=True, kw_only=True):
    """GET /api/accounts/state: the five values that the account helper contract returns."""

    nonce: str
    did: str
    is_active: bool = msgspec.field(name="isActive")
    pub_key_x: str = msgspec.field(name="pubKeyX")
    pub_key_y: str = msgspec.field(name="pubKeyY")


class Balance(Answer, frozen=True, kw_only=True):
    """GET /api/balance."""

    balance: str
    decimals: int
    symbol: str
    formatted: str


class RegistrationCounters(Answer, frozen=True, kw_only=True):
    """GET /api/sessions/status."""

    ip_registrations: int
    ip_limit: int
    total_registrations: int


class SessionCreated(Answer, frozen=True, kw_only=True):
    """POST /api/sessions."""

    ok: bool = True
    identifier: str
    channel: str
    did: str


class Availability(Answer, frozen=True, kw_only=True):
    """GET /api/sessions/check. `message` is there only when the reason is "reserved"."""

    available: bool
    reason: str | None
    message: str | UnsetType = UNSET


class AliasAvailability(Answer, frozen=True, kw_only=True):
    """GET /api/aliases/check. `did` is present only if the alias is registered."""

    available: bool
    did: str | UnsetType = UNSET


class CodeSent(Answer, frozen=True, kw_only=True):
    """POST /api/verify/send."""

    ok: bool = True
    channel: str


class Attestation(Answer, frozen=True, kw_only=True):
    """The attestation that POST /api/verify/check returns and POST /api/dids accepts."""

    identifier: str
    channel: str
    verified_at: str
    expires_at: str
    registrar: str
    signature: str


class CodeAccepted(Answer, frozen=True, kw_only=True):
    """POST /api/verify/check, correct code."""

    ok: bool = True
    verified: bool = True
    attestation: Attestation


class CodeRefused(Answer, frozen=True, kw_only=True):
    """POST /api/verify/check, any other code."""

    ok: bool = True
    verified: bool = False
    message: str


class CheckFailed(Answer, frozen=True, kw_only=True):
    """POST /api/verify/check, 502."""

    ok: bool = False
    error: str


class RecoveryTerms(Answer, frozen=True, kw_only=True):
    """GET /api/recovery.

    Attributes:
        guardian: the service's key as a signer (0x, X ‖ Y) that people make a guardian; None if it is not a guardian.
        guardians: this key, and earlier ones with which the service still signs.
        wait_seconds: from the entry of the code until the service signs.
        channels: the channels by which it can send a code.
    """

    guardian: str | None
    guardians: list[str]
    wait_seconds: int = msgspec.field(name="waitSeconds")
    channels: list[str]


class RecoveryCodeSent(Answer, frozen=True, kw_only=True):
    """POST /api/recovery/send. `request` identifies what the code confirms."""

    ok: bool = True
    channel: str
    request: str


class RecoveryConfirmed(Answer, frozen=True, kw_only=True):
    """POST /api/recovery/check with a correct code. The service signs from `ready_at` on (ISO 8601)."""

    ok: bool = True
    verified: bool = True
    account: str
    ready_at: str = msgspec.field(name="readyAt")


class RecoverySigned(Answer, frozen=True, kw_only=True):
    """POST /api/recovery/sign: the service's signature as a guardian, in 0x-hex, for the recovery of this number."""

    nonce: int
    signer: str
    signature: str


class RecoveryStopped(Answer, frozen=True, kw_only=True):
    """POST /api/recovery/stop. `stopped` is false if there was nothing to stop."""

    stopped: bool


class VerificationStatus(Answer, frozen=True, kw_only=True):
    """GET /api/verify/status."""

    identifier: str
    channel: str
    verified: bool
    verified_at: str | None = msgspec.field(name="verifiedAt")


class DidRegistered(Answer, frozen=True, kw_only=True):
    """POST /api/dids."""

    ok: bool = True
    identifier: str
    channel: str
    tx_hash: str = msgspec.field(name="txHash")


class DidRecord(Answer, frozen=True, kw_only=True):
    """GET /api/dids/lookup, found."""

    found: bool = True
    identifier: str
    channel: str
    did: str
    tx_hash: str = msgspec.field(name="txHash")
    block_number: int | None = msgspec.field(name="blockNumber")
    smart_account: str | None = msgspec.field(name="smartAccount")
    created_at: str = msgspec.field(name="createdAt")


class SnapshotName(Answer, frozen=True, kw_only=True):
    """GET /api/snapshots/name, found: the IPNS name under which a credential's vault publishes its snapshots."""

    found: bool = True
    name: str


class PersonRemoved(Answer, frozen=True, kw_only=True):
    """POST /api/person/removals: how many were removed of each kind."""

    ok: bool = True
    identifiers: int
    credentials: int
    snapshots: int
    pins: int


class AddressAdded(Answer, frozen=True, kw_only=True):
    """POST /api/person/identifiers: the address that the DID holds."""

    ok: bool = True
    identifier: str
    channel: str


class PersonExport(Answer, frozen=True, kw_only=True):
    """GET /api/person: all rows about a DID, by kind; times in RFC 3339."""

    did: str
    exported_at: str = msgspec.field(name="exportedAt")
    identifiers: list[dict[str, Any]]
    credentials: list[dict[str, Any]]
    codes: list[dict[str, Any]]
    audit: list[dict[str, Any]]
    snapshots: list[dict[str, Any]]
    pins: list[dict[str, Any]]
    names: list[dict[str, Any]]
    uploads: list[dict[str, Any]]
    recoveries: list[dict[str, Any]]
    recovery_mails: list[dict[str, Any]]
    revocations: list[dict[str, Any]]


class DidNotFound(Answer, frozen=True, kw_only=True):
    """GET /api/dids/lookup, not found."""

    found: bool = False
