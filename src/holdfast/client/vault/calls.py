"""Calls to the enclave's functions as values: name, fields and response type (enclave/ABI.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from holdfast.client import types
from holdfast.client.handles import canonical_handle
from holdfast.client.types.base import Wire
from holdfast.client.vault.second_share import shares_of
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.client.vault.keys import HostKey
    from holdfast.client.vault.second_share import ValShare

T = TypeVar("T", bound=Wire)


@dataclass(frozen=True, slots=True)
class EnclaveCall(Generic[T]):
    """One function of the enclave.

    `changes`: the vault is stored afterwards if it changed.
    """

    name: str
    fields: Mapping[str, Any]
    kind: type[T]
    changes: bool = False

    @property
    def arguments(self) -> dict[str, object]:
        """Return the call's fields for the WebAssembly host, which accepts `bytes` but no subtypes of it."""
        return {name: bytes(value) if isinstance(value, bytes) else value for name, value in self.fields.items()}

    def read(self, answer: Mapping[str, object]) -> T:
        """Return the typed response. Raises PluginCallError for a response of another form."""
        try:
            return self.kind.from_json(answer)
        except ValueError as error:
            raise PluginCallError(self.name, "unexpected answer") from error


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


def generate(given: types.GenerateInput, key: HostKey, options: Mapping[str, object]) -> EnclaveCall[Generated]:
    """Create a vault and leave it unlocked."""
    fields = {**given.to_json(), **options, "key": key.fields()}
    return EnclaveCall("generate", fields, Generated)


def load(database: bytes, min_revision: int | None) -> EnclaveCall[types.LoadOutput]:
    """Load a sealed vault into the enclave, where it stays locked."""
    return EnclaveCall("load", {"database": database, "min_revision": min_revision}, types.LoadOutput)


def unlock(key: HostKey, database: bytes | None, min_revision: int | None) -> EnclaveCall[types.UnlockOutput]:
    """Unlock a sealed vault."""
    fields = {"key": key.opening_fields(), "database": database, "min_revision": min_revision}
    return EnclaveCall("unlock", fields, types.UnlockOutput)


def lock() -> EnclaveCall[types.LockOutput]:
    """Seal the vault and erase it from memory."""
    return EnclaveCall("lock", {}, types.LockOutput)


def save() -> EnclaveCall[Saved]:
    """Seal the vault, which stays unlocked."""
    return EnclaveCall("save", {}, Saved)


def status() -> EnclaveCall[types.StatusOutput]:
    """Return the vault's state."""
    return EnclaveCall("status", {}, types.StatusOutput)


class Unsaved(types.Record, frozen=True, kw_only=True):
    """The part of the status that says whether the unlocked vault has unsealed changes."""

    unsaved: bool = False


def unsaved() -> EnclaveCall[Unsaved]:
    """Return whether the vault has unsealed changes, as the enclave's `status` reports."""
    return EnclaveCall("status", {}, Unsaved)


def query(did: str | types.QueryInput) -> EnclaveCall[types.QueryOutput]:
    """Return the data that the vault contains about a DID."""
    wanted = did.did if isinstance(did, types.QueryInput) else did
    return EnclaveCall("query", {"did": wanted}, types.QueryOutput)


def execute(
    filter_: str | types.ExecInput, args: Mapping[str, object] | None, token: str | None, audience: str | None = None
) -> EnclaveCall[types.ExecOutput[Any]]:
    """Perform an action on a resource of the vault."""
    given = filter_ if isinstance(filter_, types.ExecInput) else types.ExecInput(filter=filter_)
    fields = {"filter": given.filter, "args": args, "token": token or given.token, "audience": audience}
    return EnclaveCall("exec", fields, types.ExecOutput[Any], changes=True)


def sealed_bytes(database: bytes | types.LoadInput | types.UnlockInput) -> bytes:
    """Return the sealed vault, given as bytes or as the interface's input."""
    return database.database if isinstance(database, (types.LoadInput, types.UnlockInput)) else database


def sign(digest: bytes, val_share: ValShare | None, *, deterministic: bool) -> EnclaveCall[types.SignResult]:
    """Sign 32 bytes."""
    given = {"digest": digest, "val_share": val_share} | ({"deterministic": True} if deterministic else {})
    return EnclaveCall("sign", given, types.SignResult)


def derive_address(chain: str, options: Mapping[str, object]) -> EnclaveCall[types.DeriveAddressResult]:
    """Return the vault key's address on a chain."""
    return EnclaveCall("derive_address", {"chain": chain, **options}, types.DeriveAddressResult)


def parse_webauthn(credential: str | bytes) -> EnclaveCall[types.ParseWebAuthnResult]:
    """Parse a WebAuthn credential strictly."""
    return EnclaveCall("parse_webauthn", {"credential": credential}, types.ParseWebAuthnResult)


def create_registration(
    given: types.CreateRegistrationInput, options: Mapping[str, object]
) -> EnclaveCall[types.RegistrationResult]:
    """Return the registration call for the registry, and a user operation that makes this call.

    Raises ValueError for an invalid alias.
    """
    fields = {**given.to_json(), "alias": alias_of(given.alias), **options}
    # Unless `secret` is given, the claim uses a secret that the vault derives from its seed. A vault that was created
    # before seeds existed gets its seed here.
    makes_secret = bool(given.alias or given.did) and "secret" not in options
    return EnclaveCall("create_registration", fields, types.RegistrationResult, changes=makes_secret)


def alias_of(text: str) -> str:
    """Return the alias in the canonical form that the enclave hashes, or "" for no alias.

    Raises ValueError if invalid.
    """
    return canonical_handle(text) if text else ""


def sign_user_op(
    user_op: types.UserOp, entry_point: str, chain_id: int, val_share: ValShare | None
) -> EnclaveCall[types.SignUserOpResult]:
    """Sign a user operation's hash."""
    operation = {"user_op": user_op.to_json(), "entry_point": entry_point, "chain_id": chain_id}
    return EnclaveCall("sign_user_op", {**operation, "val_share": val_share}, types.SignUserOpResult)


class SignedAccountMessage(types.Record, frozen=True, kw_only=True):
    """A signature that holds on every chain, its digest, and the vault's key as a signer of the account; in 0x-hex."""

    signature: str
    digest: str
    signer: str
    enclave_id: str


def sign_account_message(
    message: Mapping[str, object], val_share: ValShare | None
) -> EnclaveCall[SignedAccountMessage]:
    """Sign changes of an account's owners, a recovery or its cancellation."""
    return EnclaveCall("sign_account_message", {**message, "val_share": val_share}, SignedAccountMessage)


def verify_ucan(token: str | bytes, demand: Mapping[str, object]) -> EnclaveCall[UcanClaims]:
    """Verify a chain of delegations or an invocation."""
    return EnclaveCall("verify_ucan", {"token": token, **demand}, UcanClaims)


def mint_delegation(given: types.DelegationOptions, options: Mapping[str, object]) -> EnclaveCall[MintedUcan]:
    """Sign a delegation and record it in the vault."""
    return EnclaveCall("mint_ucan", {**given.to_json(), **options, "kind": "delegation"}, MintedUcan, changes=True)


def mint_invocation(given: types.InvocationOptions, options: Mapping[str, object]) -> EnclaveCall[MintedUcan]:
    """Sign an invocation and record it in the vault, unless `record` is False."""
    fields = {**given.to_json(), **options, "kind": "invocation"}
    return EnclaveCall("mint_ucan", fields, MintedUcan, changes=bool(options.get("record", True)))


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


def publishing_key() -> EnclaveCall[PublishingKey]:
    """Return the vault's publishing key or, without a vault, the key that the next `generate` will adopt."""
    return EnclaveCall("publishing_key", {}, PublishingKey, changes=True)


def publish(root_cid: str, sequence: int, validity: datetime, ttl_ns: int) -> EnclaveCall[PublishedRecord]:
    """Sign an IPNS record for a snapshot. Raises ValueError for a validity without a time zone."""
    fields = {"root_cid": root_cid, "sequence": sequence, "validity": instant_ns(validity), "ttl_ns": ttl_ns}
    # A vault that was created without a publishing key gets one here.
    return EnclaveCall("publish", fields, PublishedRecord, changes=True)


def instant_ns(moment: datetime) -> str:
    """Format a time as IPNS records do: RFC 3339, in UTC, with nanoseconds. Raises ValueError without a time zone."""
    if moment.utcoffset() is None:
        raise ValueError("validity has no time zone: give one, such as datetime.UTC")
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond * 1000:09d}Z"


def publishing_delegation(options: Mapping[str, object]) -> EnclaveCall[MintedUcan]:
    """Return the delegation of `/snapshots/publish` to the publishing key, recorded in the vault by the first call."""
    return EnclaveCall("publishing_delegation", options, MintedUcan, changes=True)


class DidKey(types.Record, frozen=True, kw_only=True):
    """A key as `did:key`, for use as the audience of delegations to it."""

    did: str
    curve: str


def did_key(curve: str, public_key: bytes) -> EnclaveCall[DidKey]:
    """Return the did:key of a key, given as a point (SEC 1)."""
    return EnclaveCall("did_key", {"public_key": public_key, "curve": curve}, DidKey)


def refresh_shares(*, rotate: bool, val_share: ValShare | None) -> EnclaveCall[types.EncryptedShares]:
    """Replace a key's shares with new shares of the same key."""
    fields = {"rotate": rotate, "val_share": val_share}
    return EnclaveCall("refresh_shares", fields, types.EncryptedShares, changes=True)


def export(options: types.VaultExportOptions) -> EnclaveCall[types.VaultExportOutput]:
    """Export the vault in MTRV format."""
    return EnclaveCall("export", {"password": options.password}, types.VaultExportOutput)


def import_(options: types.VaultImportOptions, key: HostKey) -> EnclaveCall[types.VaultImportOutput]:
    """Import a vault from MTRV format and wrap it for `key`."""
    fields = {"data": options.data, "password": options.password, "key": key.fields()}
    return EnclaveCall("import", fields, types.VaultImportOutput)


def list_wraps() -> EnclaveCall[Wraps]:
    """Return the keys that open the vault."""
    return EnclaveCall("list_wraps", {}, Wraps)


def set_auto_lock(idle_seconds: int) -> EnclaveCall[AutoLockSetting]:
    """Make the enclave lock the vault after this many seconds without a call; 0 turns automatic locking off."""
    return EnclaveCall("set_auto_lock", {"idle_seconds": idle_seconds}, AutoLockSetting)


class AutoLockSetting(types.Record, frozen=True, kw_only=True):
    """The number of seconds without a call after which the vault is locked."""

    idle_seconds: int


def keccak256(data: bytes) -> EnclaveCall[Digest]:
    """Compute Keccak-256 in the enclave."""
    return EnclaveCall("keccak256", {"data": data}, Digest)


def sync_init() -> EnclaveCall[types.SyncInitResult]:
    """Take the new device's first pairing step: create its ephemeral key."""
    return EnclaveCall("sync_init", {}, types.SyncInitResult)


def sync_respond(session_id: str, *, public_key: str | None, code: str | None) -> EnclaveCall[Released]:
    """Respond, on the device that holds the vault, to the new device's key or, with the vault, to the digits."""
    fields = {"session_id": session_id, "public_key": public_key, "code": code, "with_keys": True}
    return EnclaveCall("sync_respond", fields, Released, changes=code is not None)


def sync_complete(
    session_id: str, code: str, encrypted_vault: str, sealed_vault: str | None, key: HostKey
) -> EnclaveCall[types.SyncCompleteResult]:
    """Unlock the received vault and, with `sealed_vault`, keep its other keys."""
    fields = {"session_id": session_id, "code": code, "encrypted_vault": encrypted_vault, "sealed_vault": sealed_vault}
    return EnclaveCall("sync_complete", {**fields, "key": key.fields()}, types.SyncCompleteResult)


def sync_compare(
    session_id: str, *, public_key: str | None = None, reveal: str | None = None
) -> EnclaveCall[Comparison]:
    """Return the six digits of a pairing, once both sides have the data from which they are derived."""
    fields = {"session_id": session_id, "public_key": public_key, "reveal": reveal}
    return EnclaveCall("sync_compare", fields, Comparison)
