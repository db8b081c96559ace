"""What the enclave's functions take and return (enclave/ABI.md)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from holdfast.client import types
from holdfast.client.handles import canonical_handle
from holdfast.client.types.base import Wire
from holdfast.client.vault.second_share import shares_of
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=Wire)


def arguments(fields: Mapping[str, object]) -> dict[str, object]:
    """Return a call's fields for the WebAssembly host, which accepts `bytes` but no subtypes of it."""
    return {name: bytes(value) if isinstance(value, bytes) else value for name, value in fields.items()}


def read(name: str, answer: Mapping[str, object], kind: type[T]) -> T:
    """Return a function's typed response. Raises PluginCallError for a response of another form."""
    try:
        return kind.from_json(answer)
    except ValueError as error:
        raise PluginCallError(name, "unexpected answer") from error


class Generated(types.GenerateOutputWithShares, frozen=True, kw_only=True):
    """A new vault, with the passkey's credential as the enclave parsed it."""

    parsed_credential: dict[str, Any] | None = None

    def result(self) -> types.GenerateResult:
        """Return the interface's short form. Raises PluginCallError if the enclave returned no shares."""
        shares = {**shares_of(self).to_json(), "enclave_id": self.enclave_id}
        return types.GenerateResult(
            success=True,
            did=self.did,
            address=self.accounts[0].address,
            shares=types.SharesOfEnclave.from_json(shares),
            parsed_credential=self.parsed_credential or {},
        )


class Wraps(types.Record, frozen=True, kw_only=True):
    """The keys that unlock the vault, by kind and ID."""

    wraps: tuple[dict[str, str], ...]


class Saved(types.Record, frozen=True, kw_only=True):
    """The sealed vault and its revision."""

    database: types.Octets
    revision: int


class Comparison(types.Record, frozen=True, kw_only=True):
    """The six digits that the people compare, and `reveal`, which the new device sends to the other device."""

    success: bool
    session_id: str | None = None
    code: str | None = None
    reveal: str | None = None
    expires_at: str | None = None
    error: str | None = None


class Released(types.SyncRespondResult, frozen=True, kw_only=True):
    """The response of the device that holds the vault. `sealed_vault` (base64) has the wraps of the vault's keys."""

    sealed_vault: str | None = None


class UcanClaims(types.Record, frozen=True, kw_only=True):
    """The claims of a verified UCAN token; for a chain of delegations, those of the last one.

    Times in seconds since 1970. `cid` and `path` are the same for both valid signatures of an ECDSA token. `path` lists
    the delegations to which the token leads, root first, and then the token itself.
    """

    valid: bool
    kind: Literal["delegation", "invocation"]
    cid: str
    path: tuple[str, ...] = ()
    issuer: str
    audience: str | None = None
    subject: str | None = None
    command: str
    policy: list[Any] | None = None
    args: dict[str, Any] | None = None
    proofs: tuple[str, ...] | None = None
    not_before: int | None = None
    expiration: int | None = None
    meta: dict[str, Any] | None = None


class MintedUcan(types.MintUcanResult, frozen=True, kw_only=True):
    """A signed UCAN token, its CID, and a `container` for the recipient, with the token and its delegations."""

    cid: str
    issuer: str
    container: str


class Digest(types.Record, frozen=True, kw_only=True):
    """Keccak-256 in 0x-hex."""

    hash: str


class Unsaved(types.Record, frozen=True, kw_only=True):
    """The part of the status that says whether the unlocked vault has unsealed changes."""

    unsaved: bool = False


def alias_of(text: str) -> str:
    """Return the alias in the canonical form that the enclave hashes, or "" for no alias.

    Raises ValueError if invalid.
    """
    return canonical_handle(text) if text else ""


class SignedAccountMessage(types.Record, frozen=True, kw_only=True):
    """A signature that holds on every chain, its digest, and the vault's key as a signer of the account; in 0x-hex."""

    signature: str
    digest: str
    signer: str
    enclave_id: str


class PublishingKey(types.Record, frozen=True, kw_only=True):
    """The public key for the vault's IPNS records (enclave/ABI.md, "Publishing").

    Attributes:
        public_key: the 32 bytes in hex.
        name: the IPNS name, `k51…`.
        did: the same key as did:key.
        pending: True if no vault exists yet; the next `generate` adopts the key.
    """

    public_key: str
    name: str
    did: str
    pending: bool

    @property
    def user_handle(self) -> bytes:
        """The public key's 32 bytes, which serve as the user handle of this vault's passkeys."""
        return bytes.fromhex(self.public_key)


class PublishedRecord(types.Record, frozen=True, kw_only=True):
    """A signed IPNS record (protobuf), and the name under which it is published."""

    record: types.Octets
    name: str


def instant_ns(moment: datetime) -> str:
    """Format a time as IPNS records do: RFC 3339, in UTC, with nanoseconds. Raises ValueError without a time zone."""
    if moment.utcoffset() is None:
        raise ValueError("validity has no time zone: give one, such as datetime.UTC")
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond * 1000:09d}Z"


class DidKey(types.Record, frozen=True, kw_only=True):
    """A key as `did:key`, for use as the audience of delegations to it."""

    did: str
    curve: str


class AutoLockSetting(types.Record, frozen=True, kw_only=True):
    """The number of seconds without a call after which the vault is locked."""

    idle_seconds: int
