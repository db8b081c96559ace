"""The enclave's functions as values: name, fields, and the type of the answer (enclave/ABI.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from holdfast.client import types
from holdfast.client.handles import canonical_handle
from holdfast.client.types.base import Wire
from holdfast.client.vault.second_share import shares_of
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.client.vault.keys import HostKey
    from holdfast.client.vault.second_share import ValShare

T = TypeVar("T", bound=Wire)


@dataclass(frozen=True, slots=True)
class EnclaveCall(Generic[T]):
    """One function of the enclave.

    `changes`: what it may change is stored afterwards. `forgets`: and no revision before that stays.
    """

    name: str
    fields: Mapping[str, Any]
    kind: type[T]
    changes: bool = False
    forgets: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """The fields as the host encodes them: it knows `bytes` alone, not their kinds."""
        return {name: bytes(value) if isinstance(value, bytes) else value for name, value in self.fields.items()}

    def read(self, answer: Mapping[str, Any]) -> T:
        """The typed answer. Raises PluginCallError where it is none."""
        try:
            return self.kind.from_json(answer)
        except ValueError as error:
            raise PluginCallError(self.name, "unexpected answer") from error


class Generated(types.GenerateOutputWithShares, frozen=True, kw_only=True):
    """A new vault, with the passkey's credential as the enclave read it."""

    parsed_credential: dict[str, Any] | None = None

    def result(self) -> types.GenerateResult:
        """The same in the interface's short form. Raises PluginCallError where the enclave gave no shares."""
        shares = {**shares_of(self).to_json(), "enclave_id": self.enclave_id}
        return types.GenerateResult(
            success=True,
            did=self.did,
            address=self.accounts[0].address,
            shares=types.SharesOfEnclave.from_json(shares),
            parsed_credential=self.parsed_credential or {},
        )


class Wraps(types.Record, frozen=True, kw_only=True):
    """The keys that open the vault, each by kind and id."""

    wraps: tuple[dict[str, str], ...]


class Saved(types.Record, frozen=True, kw_only=True):
    """The sealed vault and its revision."""

    database: types.Octets
    revision: int


class Comparison(types.Record, frozen=True, kw_only=True):
    """Six digits that both people compare; `reveal` is what the new device sends on."""

    success: bool
    session_id: str | None = None
    code: str | None = None
    reveal: str | None = None
    expires_at: str | None = None
    error: str | None = None


class UcanClaims(types.Record, frozen=True, kw_only=True):
    """What a verified token says: of a chain, its last delegation; times in seconds since 1970.

    `cid` and `path` are the same whichever of its two valid signatures an ECDSA token was shown with. `path` has the
    delegations that the token rests on, root first, and the token itself.
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
    """A signed token with its CID, and as `container` together with the chain it continues, ready to be handed on."""

    cid: str
    container: str


class Digest(types.Record, frozen=True, kw_only=True):
    """Keccak-256 in 0x-hex."""

    hash: str


def generate(given: types.GenerateInput, key: HostKey, options: Mapping[str, Any]) -> EnclaveCall[Generated]:
    """A new vault, open afterwards."""
    fields = {**given.to_json(), **options, "key": key.fields()}
    return EnclaveCall("generate", fields, Generated)


def load(database: bytes, min_revision: int | None) -> EnclaveCall[types.LoadOutput]:
    """Put a sealed vault into the enclave, where it stays locked."""
    return EnclaveCall("load", {"database": database, "min_revision": min_revision}, types.LoadOutput)


def unlock(key: HostKey, database: bytes | None, min_revision: int | None) -> EnclaveCall[types.UnlockOutput]:
    """Open a sealed vault."""
    fields = {"key": key.fields(), "database": database, "min_revision": min_revision}
    return EnclaveCall("unlock", fields, types.UnlockOutput)


def lock() -> EnclaveCall[types.LockOutput]:
    """Seal and erase."""
    return EnclaveCall("lock", {}, types.LockOutput)


def save() -> EnclaveCall[Saved]:
    """Seal, and stay open."""
    return EnclaveCall("save", {}, Saved)


def status() -> EnclaveCall[types.StatusOutput]:
    """The vault's state."""
    return EnclaveCall("status", {}, types.StatusOutput)


class Unsaved(types.Record, frozen=True, kw_only=True):
    """Whether the open vault holds what its sealed bytes do not."""

    unsaved: bool = False


def unsaved() -> EnclaveCall[Unsaved]:
    """What `status` says of changes that are not sealed yet."""
    return EnclaveCall("status", {}, Unsaved)


def query(did: str | types.QueryInput) -> EnclaveCall[types.QueryOutput]:
    """What the vault knows of a DID."""
    wanted = did.did if isinstance(did, types.QueryInput) else did
    return EnclaveCall("query", {"did": wanted}, types.QueryOutput)


def execute(
    filter_: str | types.ExecInput, args: Mapping[str, Any] | None, token: str | None, audience: str | None = None
) -> EnclaveCall[types.ExecOutput[Any]]:
    """One action on one resource."""
    given = filter_ if isinstance(filter_, types.ExecInput) else types.ExecInput(filter=filter_)
    fields = {"filter": given.filter, "args": args, "token": token or given.token, "audience": audience}
    return EnclaveCall("exec", fields, types.ExecOutput[Any], changes=True)


def sealed_bytes(database: bytes | types.LoadInput | types.UnlockInput) -> bytes:
    """The sealed vault, given as it is or as the interface's input."""
    return database.database if isinstance(database, (types.LoadInput, types.UnlockInput)) else database


def sign(digest: bytes, val_share: ValShare | None) -> EnclaveCall[types.SignResult]:
    """A signature over 32 bytes."""
    return EnclaveCall("sign", {"digest": digest, "val_share": val_share}, types.SignResult)


def derive_address(chain: str, options: Mapping[str, Any]) -> EnclaveCall[types.DeriveAddressResult]:
    """The key's address on a chain."""
    return EnclaveCall("derive_address", {"chain": chain, **options}, types.DeriveAddressResult)


def parse_webauthn(credential: str | bytes) -> EnclaveCall[types.ParseWebAuthnResult]:
    """A WebAuthn credential, read strictly."""
    return EnclaveCall("parse_webauthn", {"credential": credential}, types.ParseWebAuthnResult)


def create_registration(
    given: types.CreateRegistrationInput, options: Mapping[str, Any]
) -> EnclaveCall[types.RegistrationResult]:
    """The registry's call and the user operation that makes it. Raises ValueError for an alias that is no handle."""
    fields = {**given.to_json(), "alias": alias_of(given.alias), **options}
    # A claim without a secret takes the vault's, and a vault made before there were seeds gets its seed by that.
    makes_secret = bool(given.alias or given.did) and "secret" not in options
    return EnclaveCall("create_registration", fields, types.RegistrationResult, changes=makes_secret)


def alias_of(text: str) -> str:
    """The alias in its canonical form, which the enclave hashes; "" for none. Raises ValueError for no handle."""
    return canonical_handle(text) if text else ""


def sign_user_op(
    user_op: types.UserOp, entry_point: str, chain_id: int, val_share: ValShare | None
) -> EnclaveCall[types.SignUserOpResult]:
    """A signature over a user operation's hash."""
    operation = {"user_op": user_op.to_json(), "entry_point": entry_point, "chain_id": chain_id}
    return EnclaveCall("sign_user_op", {**operation, "val_share": val_share}, types.SignUserOpResult)


def verify_ucan(token: str | bytes, demand: Mapping[str, Any]) -> EnclaveCall[UcanClaims]:
    """Whether a chain of delegations or an invocation holds."""
    return EnclaveCall("verify_ucan", {"token": token, **demand}, UcanClaims)


def mint_delegation(given: types.DelegationOptions, options: Mapping[str, Any]) -> EnclaveCall[MintedUcan]:
    """A signed delegation, recorded in the vault."""
    return EnclaveCall("mint_ucan", {**given.to_json(), **options, "kind": "delegation"}, MintedUcan, changes=True)


def mint_invocation(given: types.InvocationOptions, options: Mapping[str, Any]) -> EnclaveCall[MintedUcan]:
    """A signed invocation, recorded in the vault."""
    return EnclaveCall("mint_ucan", {**given.to_json(), **options, "kind": "invocation"}, MintedUcan, changes=True)


class DidKey(types.Record, frozen=True, kw_only=True):
    """A key's name as `did:key`: what delegations are made out to."""

    did: str
    curve: str


def did_key(method: types.VerificationMethod) -> EnclaveCall[DidKey]:
    """The did:key of a verification method's key."""
    curve = "secp256k1" if "Secp256k1" in method.type else "P-256"
    return EnclaveCall("did_key", {"public_key": from_base64url(method.public_key), "curve": curve}, DidKey)


def refresh_shares(*, rotate: bool, val_share: ValShare | None) -> EnclaveCall[types.EncryptedShares]:
    """Other shares of the same key."""
    fields = {"rotate": rotate, "val_share": val_share}
    return EnclaveCall("refresh_shares", fields, types.EncryptedShares, changes=True)


def export(options: types.VaultExportOptions) -> EnclaveCall[types.VaultExportOutput]:
    """The vault in MTRV format."""
    return EnclaveCall("export", {"password": options.password}, types.VaultExportOutput)


def import_(options: types.VaultImportOptions, key: HostKey) -> EnclaveCall[types.VaultImportOutput]:
    """A vault from MTRV format, wrapped anew for `key`."""
    fields = {"data": options.data, "password": options.password, "key": key.fields()}
    return EnclaveCall("import", fields, types.VaultImportOutput, changes=True)


def add_wrap(key: HostKey) -> EnclaveCall[Wraps]:
    """One more key opens the vault."""
    return EnclaveCall("add_wrap", {"key": key.fields()}, Wraps, changes=True)


def remove_wrap(kind: str, wrap_id: str, remaining: Sequence[HostKey]) -> EnclaveCall[Wraps]:
    """A key no longer opens what is saved from now on; with the remaining keys, under another data key."""
    keys = [key.fields() for key in remaining] or None
    fields = {"kind": kind, "id": wrap_id, "keys": keys}
    return EnclaveCall("remove_wrap", fields, Wraps, changes=True, forgets=True)


def list_wraps() -> EnclaveCall[Wraps]:
    """Which keys open the vault."""
    return EnclaveCall("list_wraps", {}, Wraps)


def set_auto_lock(idle_seconds: int) -> EnclaveCall[Any]:
    """Lock after so long without a call; 0 never."""
    return EnclaveCall("set_auto_lock", {"idle_seconds": idle_seconds}, AutoLock)


class AutoLock(types.Record, frozen=True, kw_only=True):
    """After how many seconds without a call the vault locks itself."""

    idle_seconds: int


def keccak256(data: bytes) -> EnclaveCall[Digest]:
    """Keccak-256 by the enclave."""
    return EnclaveCall("keccak256", {"data": data}, Digest)


def sync_init() -> EnclaveCall[types.SyncInitResult]:
    """The new device's first step."""
    return EnclaveCall("sync_init", {}, types.SyncInitResult)


def sync_respond(
    session_id: str, *, public_key: str | None = None, code: str | None = None
) -> EnclaveCall[types.SyncRespondResult]:
    """The holder's steps: with a key, its own; with the code, the sealed vault."""
    fields = {"session_id": session_id, "public_key": public_key, "code": code}
    return EnclaveCall("sync_respond", fields, types.SyncRespondResult)


def sync_compare(
    session_id: str, *, public_key: str | None = None, reveal: str | None = None
) -> EnclaveCall[Comparison]:
    """The six digits, once each side knows enough."""
    fields = {"session_id": session_id, "public_key": public_key, "reveal": reveal}
    return EnclaveCall("sync_compare", fields, Comparison)


def sync_complete(
    session_id: str, code: str, encrypted_vault: str, key: HostKey
) -> EnclaveCall[types.SyncCompleteResult]:
    """The new device's last step: open, check, wrap for `key`."""
    fields = {"session_id": session_id, "code": code, "encrypted_vault": encrypted_vault, "key": key.fields()}
    return EnclaveCall("sync_complete", fields, types.SyncCompleteResult, changes=True)


class PublishingKey(types.Record, frozen=True, kw_only=True):
    """The Ed25519 key that names the vault's snapshots: its public key in hex, its IPNS name, its did:key.

    `pending`: no vault has it yet; the one that is made next will.
    """

    public_key: str
    name: str
    did: str
    pending: bool = False


class PublishedRecord(types.Record, frozen=True, kw_only=True):
    """An IPNS record, signed by the publishing key, and the name that it is for."""

    record: types.Octets
    name: str


def publishing_key() -> EnclaveCall[PublishingKey]:
    """The vault's publishing key, or the one of the vault that is made next."""
    return EnclaveCall("publishing_key", {}, PublishingKey, changes=True)


def publish(root_cid: str, sequence: int, validity: str, ttl_ns: int) -> EnclaveCall[PublishedRecord]:
    """A signed record that names a snapshot."""
    fields = {"root_cid": root_cid, "sequence": sequence, "validity": validity, "ttl_ns": ttl_ns}
    return EnclaveCall("publish", fields, PublishedRecord)


def publishing_delegation(options: Mapping[str, Any]) -> EnclaveCall[MintedUcan]:
    """The delegation to the publishing key; made and recorded at the first call."""
    return EnclaveCall("publishing_delegation", options, MintedUcan, changes=True)


def resource_filter(resource: types.Resource | str, action: str) -> str:
    """The filter of `exec`. Raises ValueError for a resource that the interface does not list."""
    return f"resource:{types.Resource(resource)} action:{action}"
