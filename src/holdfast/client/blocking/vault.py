"""`Vault`, the blocking form of `AsyncVault`.

Written by `tools/blocking_client.py` from `holdfast/client/vault/async_vault.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from holdfast.client.blocking.loop import run
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.passwords import MIN_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from holdfast.client import types
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import BootEvent, BootStatus
    from holdfast.client.vault import calls
    from holdfast.client.vault.boot import BootLog
    from holdfast.client.vault.keys import KeyProvider
    from holdfast.client.vault.own_key import OwnKey
    from holdfast.client.vault.second_share import ShareKeeper, ShareSource, ValShare


class Vault:
    """A vault in an enclave within this process. Calls run one after another, in a thread other than the event loop's.

    Args:
        store: stores sealed revisions. Without one the caller stores what `lock` and `save` return.
        module: an enclave module to load instead of the bundled one (see `module_file`).
        snapshots: the gateways from which missing blocks are fetched.
        on_event: called with each boot event.
        val_share: returns a key's second share whenever the key signs, for a vault created with `keep_share`.

    Call `boot` first and `close` last. In between, each method raises PluginCallError if the enclave refuses the
    call and StorageError if the store fails; before and after, ClientStateError.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncVault

    def __init__(
        self,
        store: VaultStore | None = None,
        *,
        module: Path | None = None,
        snapshots: types.VaultSnapshotConfig | None = None,
        on_event: Callable[[BootEvent], None] | None = None,
        val_share: ShareSource | None = None,
    ) -> None:
        self._asynchronous = AsyncVault(
            store, module=module, snapshots=snapshots, on_event=on_event, val_share=val_share
        )

    def boot(self) -> BootStatus:
        """Start the enclave, test the store, and check whether libp2p is installed.

        Raises WasmLoadError. A failing store or missing libp2p is only reported in the boot status.
        """
        return run(self._asynchronous.boot())

    @property
    def store(self) -> VaultStore | None:
        """The store for sealed revisions of the vault, or None."""
        return self._asynchronous.store

    @property
    def snapshot_config(self) -> types.VaultSnapshotConfig:
        """The settings that say where snapshots are stored and read."""
        return self._asynchronous.snapshot_config

    @property
    def listeners(self) -> list[Callable[[], None]]:
        """Functions called in the event loop's thread after a revision is stored or a vault is unlocked."""
        return self._asynchronous.listeners

    @property
    def boot_status(self) -> BootStatus:
        """The status of the subsystems."""
        return self._asynchronous.boot_status

    @property
    def boot_log(self) -> BootLog:
        """The events of the boot."""
        return self._asynchronous.boot_log

    def close(self) -> None:
        """Discard the enclave and its memory without saving. Repeated calls have no effect."""
        run(self._asynchronous.close())

    def __enter__(self) -> Self:
        run(self._asynchronous.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        run(self._asynchronous.__aexit__(*_))

    def generate(
        self, given: types.GenerateInput, key: KeyProvider, *, keep_share: ShareKeeper | None = None, **options: object
    ) -> calls.Generated:
        """Create a vault from a passkey's credential. The new vault is unlocked and stored.

        Args:
            given: the credential and, optionally, an identifier.
            key: the key that unlocks the vault from now on.
            keep_share: stores the key's second share elsewhere. The vault then keeps only the first one, and
                needs `val_share` to sign.
            options: options of the enclave's function: `curve`, `chain_id`, `factory`, `implementation`, `salt`,
                `device_name`. By default the first account is a smart account of this release's contracts; for those of
                a service pass `**client.contracts().for_vault()`.
        """
        return run(self._asynchronous.generate(given, key, keep_share=keep_share, **options))

    def load(self, database: bytes | types.LoadInput | None = None, *, did: str | None = None) -> types.LoadOutput:
        """Load a sealed vault, by default the newest stored one, into the enclave. The vault stays locked."""
        return run(self._asynchronous.load(database, did=did))

    def unlock(
        self, key: KeyProvider, database: bytes | types.UnlockInput | None = None, *, did: str | None = None
    ) -> types.UnlockOutput:
        """Unlock a sealed vault: the given one, or the one that this enclave locked, or else the newest stored one."""
        return run(self._asynchronous.unlock(key, database, did=did))

    def lock(self) -> types.LockOutput:
        """Seal and store the vault, and erase it from memory."""
        return run(self._asynchronous.lock())

    def save(self) -> calls.Saved:
        """Seal and store the vault, which stays unlocked."""
        return run(self._asynchronous.save())

    def status(self) -> types.StatusOutput:
        """Return whether a vault exists, its DID, and whether it is locked."""
        return run(self._asynchronous.status())

    def query(self, did: str | types.QueryInput = "") -> types.QueryOutput:
        """Return a DID's verification methods, accounts and credentials, by default those of the vault's own DID."""
        return run(self._asynchronous.query(did))

    def exec(
        self,
        filter: str | types.ExecInput,
        args: Mapping[str, object] | None = None,
        *,
        token: str | None = None,
        audience: str | None = None,
    ) -> types.ExecOutput[Any]:
        """Perform `resource:<name> action:<name>`, optionally under a UCAN.

        If the action changes the vault, the change is stored. If the vault does not keep its second share, actions that
        sign need it in `args`, as `val_share`.

        `audience` is the DID of the bearer of `token`. Without an `audience`, any bearer may use the delegation.
        """
        return run(self._asynchronous.exec(filter, args, token=token, audience=audience))

    def sign(
        self, digest: bytes, *, val_share: ValShare | None = None, deterministic: bool = False
    ) -> types.SignResult:
        """Sign 32 bytes and return r ‖ s with a low s.

        Args:
            digest: the bytes.
            val_share: the second share, if not to be fetched.
            deterministic: the same signature each time (RFC 6979).
        """
        return run(self._asynchronous.sign(digest, val_share=val_share, deterministic=deterministic))

    def derive_address(self, chain: str = "ethereum", **options: object) -> types.DeriveAddressResult:
        """Return the vault key's address on the chain "ethereum", "bitcoin" or "cosmos".

        Options: `factory`, `implementation` and `salt` for a smart account; `form` ("p2wpkh", "p2tr") for Bitcoin;
        `prefix` for Cosmos. Raises PluginCallError if the chain has no address for the key's curve.
        """
        return run(self._asynchronous.derive_address(chain, **options))

    def parse_webauthn(self, credential: str | bytes) -> types.ParseWebAuthnResult:
        """Parse a WebAuthn credential strictly."""
        return run(self._asynchronous.parse_webauthn(credential))

    def create_registration(self, given: types.CreateRegistrationInput, **options: object) -> types.RegistrationResult:
        """Prepare the on-chain registration of the vault's DID, or of a DID that uses a different method.

        The alias is converted to its canonical form. `options` are those of the enclave's function: `registry_addr`,
        `entry_point`, `factory`, `implementation`, `salt`, `nonce`, `deployed`, `secret`, `step`, `registered`. Raises
        ValueError for an invalid alias.
        """
        return run(self._asynchronous.create_registration(given, **options))

    def sign_user_op(
        self, user_op: types.UserOp, entry_point: str, chain_id: int, *, val_share: ValShare | None = None
    ) -> types.SignUserOpResult:
        """Sign a user operation for an entry point and a chain. `val_share` is the same as for `sign`."""
        return run(self._asynchronous.sign_user_op(user_op, entry_point, chain_id, val_share=val_share))

    def sign_account_message(
        self, message: Mapping[str, object], *, val_share: ValShare | None = None
    ) -> calls.SignedAccountMessage:
        """Sign, once for every chain, changes of an account's owners, a recovery, or its cancellation.

        Args:
            message: `account` and the fields in enclave/ABI.md, "Messages of accounts", from which the enclave computes
                the digest.
            val_share: the same as for `sign`.

        Raises:
            PluginCallError: a field is missing or malformed, or the vault is locked.
        """
        return run(self._asynchronous.sign_account_message(message, val_share=val_share))

    def mint_delegation(self, given: types.DelegationOptions, **options: object) -> calls.MintedUcan:
        """Sign a UCAN delegation of the vault's own authority or, with `token`, of the authority in that token.

        UCAN 1.0 does not bind a delegation to its proof: with `token`, the delegation is also valid under any wider
        token that this vault was given for the same subject, if its bearer has that token. So restrict the delegation
        itself, by `policy` and `expiration`, as narrowly as the authority that you mean to pass on.
        """
        return run(self._asynchronous.mint_delegation(given, **options))

    def mint_invocation(self, given: types.InvocationOptions, **options: object) -> calls.MintedUcan:
        """Sign a UCAN invocation.

        With `record=False` the vault does not store the invocation, which must then name its `audience` and expire
        after at most ten minutes. The client authorizes uploads of snapshots with unrecorded invocations.
        """
        return run(self._asynchronous.mint_invocation(given, **options))

    def verify_ucan(self, token: str | bytes, **demand: object) -> calls.UcanClaims:
        """Verify a UCAN. `demand`: `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`."""
        return run(self._asynchronous.verify_ucan(token, **demand))

    def publishing_key(self) -> calls.PublishingKey:
        """Return the public key that verifies the vault's IPNS records.

        Before `generate`, this is the key that the new vault will have, so that the passkey can be created with the
        key's `user_handle` as its own.
        """
        return run(self._asynchronous.publishing_key())

    def publish(self, root_cid: str, sequence: int, validity: datetime, ttl_ns: int) -> calls.PublishedRecord:
        """Sign an IPNS record that names a snapshot.

        Args:
            root_cid: the snapshot's root, a CIDv1 in base32.
            sequence: higher than in every earlier record, which the enclave does not check. At most 2^53 - 1.
            validity: when the record expires; in the future, with a time zone.
            ttl_ns: how long a resolver may cache the record, in nanoseconds.

        Raises ValueError if `validity` has no time zone, PluginCallError for an invalid field.
        """
        return run(self._asynchronous.publish(root_cid, sequence, validity, ttl_ns))

    def publishing_delegation(self) -> calls.MintedUcan:
        """Return the vault's delegation of `/snapshots/publish` to the publishing key, for a snapshot's manifest.

        The first call mints and stores the delegation; later calls return the same one unless it was revoked.
        """
        return run(self._asynchronous.publishing_delegation())

    def did_key(self) -> str:
        """Return the vault's key as `did:key`, the issuer of its delegations and the audience of delegations to it."""
        return run(self._asynchronous.did_key())

    def own_key(self) -> OwnKey:
        """Return the key whose hash is the vault's DID.

        It is one of the vault's keys. The table `verification_methods` states keys, too, but the statements may be
        wrong. Raises PluginCallError, for example if the vault is locked.
        """
        return run(self._asynchronous.own_key())

    def refresh_shares(
        self, *, rotate: bool = False, val_share: ValShare | None = None, keep_share: ShareKeeper | None = None
    ) -> types.EncryptedShares:
        """Replace a key's shares with new shares of the same key. With `rotate`, the sealing keys are also new.

        If the vault does not keep its second share, `keep_share` stores the new one. Keep the old share until this call
        returns, because the stored vault needs it until the new revision is stored.

        Raises ValueError, before anything changes, if there is a second share but nothing that stores the new one.
        """
        return run(self._asynchronous.refresh_shares(rotate=rotate, val_share=val_share, keep_share=keep_share))

    def export(
        self, options: types.VaultExportOptions, *, min_password: int = MIN_CHARACTERS
    ) -> types.VaultExportOutput:
        """Return the vault in MTRV format, encrypted under a password.

        Raises ValueError for a password of fewer than `min_password` characters (at least 8) or fewer than five
        different ones.
        """
        return run(self._asynchronous.export(options, min_password=min_password))

    def import_(self, options: types.VaultImportOptions, key: KeyProvider) -> types.VaultImportOutput:
        """Import a vault from MTRV format, wrap it for `key` and store it.

        Raises StorageError if a vault of this DID is stored here; then nothing is stored, and no vault is open.
        """
        return run(self._asynchronous.import_(options, key))

    def add_key(self, key: KeyProvider) -> calls.Wraps:
        """Wrap the vault for an additional key."""
        return run(self._asynchronous.add_key(key))

    def remove_key(self, kind: str, key_id: str, *, remaining: Sequence[KeyProvider] = ()) -> calls.Wraps:
        """Remove a key's wrap from the vault, and all older revisions and snapshots from the store.

        The last wrap must remain. A removed passkey or password stays removed unless it is added again: choosing
        another device's version (`choose_snapshot`) does not restore it. The holder of the removed key may know the
        data key, which also decrypts later revisions. If `remaining` contains all other keys, the vault gets a new data
        key, which the removed key never unlocked. The new data key can be wrapped only with the other keys' secrets.

        Args:
            kind: the wrap's kind.
            key_id: the wrap's ID, as `keys` lists it.
            remaining: all other keys of the vault, or empty.

        Raises PluginCallError, and nothing has changed: `not_found`, `last_wrap`; `key_required` if `remaining` lacks a
        key, `wrong_key` if one of them does not open its wrap. With the function `exec`, the key is removed, but the
        removal could not be recorded, so another device's version may restore the key.
        """
        return run(self._asynchronous.remove_key(kind, key_id, remaining=remaining))

    def keys(self) -> calls.Wraps:
        """Return the kind and ID of each key that unlocks the vault."""
        return run(self._asynchronous.keys())

    def set_auto_lock(self, idle_seconds: int) -> None:
        """Make the enclave lock the vault after this many seconds without a call; 0 turns automatic locking off."""
        run(self._asynchronous.set_auto_lock(idle_seconds))

    def alias_hash(self, alias: str, keccak: types.Keccak256Fn | None = None) -> str:
        """Return the Keccak-256 hash of the alias in its canonical form. By default, the enclave computes the hash.

        Raises ValueError for an invalid handle.
        """
        return run(self._asynchronous.alias_hash(alias, keccak))

    def snapshot(self, did: str | None = None) -> Snapshot:
        """Make a snapshot of the newest stored revision, and store it and, in a manifest that names none, its root."""
        return run(self._asynchronous.snapshot(did))

    def fetch_snapshot(self, root_cid: str) -> Snapshot:
        """Return a verified snapshot from the store or else from the gateways, without unlocking its vault."""
        return run(self._asynchronous.fetch_snapshot(root_cid))

    def keccak256(self, data: bytes) -> str:
        """Let the enclave compute a Keccak-256 hash, and return it as 0x-hex."""
        return run(self._asynchronous.keccak256(data))

    def sync_init(self) -> types.SyncInitResult:
        """Create, on the new device, an ephemeral key that is valid for five minutes."""
        return run(self._asynchronous.sync_init())

    def sync_respond(
        self, session_id: str, *, public_key: str | None = None, code: str | None = None
    ) -> calls.Released:
        """Respond, on the device that holds the vault, to the new device's key and then to the six digits.

        The response to the digits includes `sealed_vault`, which contains the wraps of all passkeys and passwords, for
        `sync_complete`. Raises PluginCallError if the vault has sixteen keys already.
        """
        return run(self._asynchronous.sync_respond(session_id, public_key=public_key, code=code))

    def sync_compare(
        self, session_id: str, *, public_key: str | None = None, reveal: str | None = None
    ) -> calls.Comparison:
        """Return the six digits that both people compare."""
        return run(self._asynchronous.sync_compare(session_id, public_key=public_key, reveal=reveal))

    def sync_complete(
        self, session_id: str, code: str, encrypted_vault: str, key: KeyProvider, *, sealed_vault: str | None = None
    ) -> types.SyncCompleteResult:
        """Receive the vault on the new device: unlock it, check it, wrap it for `key` and store it.

        With `sealed_vault`, the other device's passkeys and passwords also unlock the vault; otherwise only `key` does.
        Pass "" for `sealed_vault` if the other device sent none; the call then fails if one was removed in transit.
        Raises PluginCallError (`sync_rejected`) if either was changed or removed, StorageError if a vault of this DID
        is stored here; then nothing is stored.
        """
        return run(self._asynchronous.sync_complete(session_id, code, encrypted_vault, key, sealed_vault=sealed_vault))
