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
    from holdfast.client.vault.second_share import ShareKeeper, ShareSource, ValShare


class Vault:
    """One vault in one enclave of this process. Its calls take turns, outside the event loop's thread.

    Args:
        store: where sealed revisions are kept; without one the caller keeps what `lock` and `save` give.
        module: another enclave module than the bundled one (see `module_file`).
        snapshots: the gateway that is asked for blocks that are not here.
        on_event: told each boot event.
        val_share: asked for the second share of a key whenever it signs, for a vault made with `keep_share`.

    `boot` comes first, `close` last; in between every method raises PluginCallError where the enclave refuses the
    call, and StorageError where the store fails. Before and after: ClientStateError.

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
        """Start the enclave, try the store, and look whether libp2p is installed.

        Raises WasmLoadError; a failing store and an absent libp2p only show in the status.
        """
        return run(self._asynchronous.boot())

    @property
    def store(self) -> VaultStore | None:
        """Where sealed revisions are kept."""
        return self._asynchronous.store

    @property
    def snapshot_config(self) -> types.VaultSnapshotConfig:
        """Where snapshots are kept and read."""
        return self._asynchronous.snapshot_config

    @property
    def listeners(self) -> list[Callable[[], None]]:
        """Called in the event loop's thread whenever a revision was stored, or a stored vault was opened."""
        return self._asynchronous.listeners

    @property
    def boot_status(self) -> BootStatus:
        """Which subsystems are ready."""
        return self._asynchronous.boot_status

    @property
    def boot_log(self) -> BootLog:
        """The boot's events."""
        return self._asynchronous.boot_log

    def close(self) -> None:
        """Discard the enclave and its memory, without saving. Closing again is harmless."""
        run(self._asynchronous.close())

    def __enter__(self) -> Self:
        run(self._asynchronous.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        run(self._asynchronous.__aexit__(*_))

    def generate(
        self, given: types.GenerateInput, key: KeyProvider, *, keep_share: ShareKeeper | None = None, **options: Any
    ) -> calls.Generated:
        """Make a vault from a passkey's credential; it is open and stored afterwards.

        Args:
            given: the credential, and perhaps an identifier.
            key: opens the vault from now on.
            keep_share: takes the key's second share into a second place; the vault keeps the other one alone then,
                and signs only with what its `val_share` fetches.
            options: the enclave's own: `curve`, `chain_id`, `factory`, `implementation`, `salt`, `device_name`.
                The first account is the smart account of this release's contracts; of a service's with
                `**client.contracts().for_vault()`.
        """
        return run(self._asynchronous.generate(given, key, keep_share=keep_share, **options))

    def load(self, database: bytes | types.LoadInput | None = None, *, did: str | None = None) -> types.LoadOutput:
        """Put a sealed vault into the enclave, where it stays locked; without bytes, the newest stored one."""
        return run(self._asynchronous.load(database, did=did))

    def unlock(
        self, key: KeyProvider, database: bytes | types.UnlockInput | None = None, *, did: str | None = None
    ) -> types.UnlockOutput:
        """Open a vault: the given bytes, else the one that this enclave locked, else the newest stored one."""
        return run(self._asynchronous.unlock(key, database, did=did))

    def lock(self) -> types.LockOutput:
        """Seal, store and erase."""
        return run(self._asynchronous.lock())

    def save(self) -> calls.Saved:
        """Seal and store; the vault stays open."""
        return run(self._asynchronous.save())

    def status(self) -> types.StatusOutput:
        """Whether there is a vault, whose, and whether it is locked."""
        return run(self._asynchronous.status())

    def query(self, did: str | types.QueryInput = "") -> types.QueryOutput:
        """Verification methods, accounts and credentials; empty: of the vault's own DID."""
        return run(self._asynchronous.query(did))

    def exec(
        self,
        filter: str | types.ExecInput,
        args: Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        audience: str | None = None,
    ) -> types.ExecOutput[Any]:
        """Do `resource:<name> action:<name>`, perhaps under a UCAN; what changes the vault is stored.

        An action that only reads stores nothing. Of a vault that does not keep its second share, actions that sign
        want it in `args`, as `val_share`.

        `audience` is the DID of the bearer of `token`; without it, any bearer may use the delegation.
        """
        return run(self._asynchronous.exec(filter, args, token=token, audience=audience))

    def sign(self, digest: bytes, *, val_share: ValShare | None = None) -> types.SignResult:
        """Sign 32 bytes: r ‖ s with a low s. `val_share`: the second share, where it is not to be fetched."""
        return run(self._asynchronous.sign(digest, val_share=val_share))

    def derive_address(self, chain: str = "ethereum", **options: Any) -> types.DeriveAddressResult:
        """The key's address on "ethereum", "bitcoin" or "cosmos".

        Options: `factory`, `implementation` and `salt` for a smart account; `form` ("p2wpkh", "p2tr") for Bitcoin;
        `prefix` for Cosmos. Raises PluginCallError where the chain has no address for the key's curve.
        """
        return run(self._asynchronous.derive_address(chain, **options))

    def parse_webauthn(self, credential: str | bytes) -> types.ParseWebAuthnResult:
        """Read a WebAuthn credential strictly."""
        return run(self._asynchronous.parse_webauthn(credential))

    def create_registration(self, given: types.CreateRegistrationInput, **options: Any) -> types.RegistrationResult:
        """Prepare an on-chain registration of the vault's DID, or of another method's.

        The alias is brought into its canonical form. `options` are the enclave's: `registry_addr`, `entry_point`,
        `factory`, `implementation`, `salt`, `nonce`, `deployed`, `secret`, `step`, `registered`. Raises ValueError for
        what is no alias.
        """
        return run(self._asynchronous.create_registration(given, **options))

    def sign_user_op(
        self, user_op: types.UserOp, entry_point: str, chain_id: int, *, val_share: ValShare | None = None
    ) -> types.SignUserOpResult:
        """Sign a user operation for an entry point and a chain; `val_share` as for `sign`."""
        return run(self._asynchronous.sign_user_op(user_op, entry_point, chain_id, val_share=val_share))

    def mint_delegation(self, given: types.DelegationOptions, **options: Any) -> calls.MintedUcan:
        """Sign a UCAN delegation of the vault's authority, or pass on the chain in `token`."""
        return run(self._asynchronous.mint_delegation(given, **options))

    def mint_invocation(self, given: types.InvocationOptions, **options: Any) -> calls.MintedUcan:
        """Sign a UCAN invocation."""
        return run(self._asynchronous.mint_invocation(given, **options))

    def verify_ucan(self, token: str | bytes, **demand: Any) -> calls.UcanClaims:
        """Verify a UCAN; `demand`: `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`."""
        return run(self._asynchronous.verify_ucan(token, **demand))

    def did_key(self) -> str:
        """The vault's key as `did:key`: the issuer of its delegations, and the audience of delegations to it."""
        return run(self._asynchronous.did_key())

    def refresh_shares(
        self, *, rotate: bool = False, val_share: ValShare | None = None, keep_share: ShareKeeper | None = None
    ) -> types.EncryptedShares:
        """Other shares of the same key; with `rotate` under new sealing keys too.

        Of a vault that does not keep its second share, `keep_share` takes the new one. Until this returns, the old one
        has to be kept too: the stored vault needs it until the new one is stored.

        Raises ValueError, before anything happens, where there is a second share and nothing to keep the new one.
        """
        return run(self._asynchronous.refresh_shares(rotate=rotate, val_share=val_share, keep_share=keep_share))

    def export(
        self, options: types.VaultExportOptions, *, min_password: int = MIN_CHARACTERS
    ) -> types.VaultExportOutput:
        """The vault in MTRV format, sealed by a password.

        Raises ValueError for a password of fewer than `min_password` characters (8 at least) or fewer than five
        different ones.
        """
        return run(self._asynchronous.export(options, min_password=min_password))

    def import_(self, options: types.VaultImportOptions, key: KeyProvider) -> types.VaultImportOutput:
        """Take a vault from MTRV format and wrap it for `key`."""
        return run(self._asynchronous.import_(options, key))

    def add_key(self, key: KeyProvider) -> calls.Wraps:
        """Let one more key open the vault."""
        return run(self._asynchronous.add_key(key))

    def remove_key(self, kind: str, key_id: str, *, remaining: Sequence[KeyProvider] = ()) -> calls.Wraps:
        """Take a key's wrap away; the last one stays. No older revision and no snapshot stays in the store.

        What this key has opened before keeps its data key, with which a copy of a later revision could be opened too.
        Given all keys that remain, the vault goes on under another data key, which the removed key never had; without
        their secrets no wrap of it can be made.

        Args:
            kind: the wrap's kind, and
            key_id: its id, as `keys` lists them.
            remaining: every other key of the vault, or none.

        Raises PluginCallError, and nothing has changed: `not_found`, `last_wrap`; `key_required` where these are
        not all the remaining keys, `wrong_key` where one does not open its wrap.
        """
        return run(self._asynchronous.remove_key(kind, key_id, remaining=remaining))

    def keys(self) -> calls.Wraps:
        """Which keys open the vault, by kind and id."""
        return run(self._asynchronous.keys())

    def set_auto_lock(self, idle_seconds: int) -> None:
        """Let the enclave lock itself after so many seconds without a call; 0 never."""
        run(self._asynchronous.set_auto_lock(idle_seconds))

    def alias_hash(self, alias: str, keccak: types.Keccak256Fn | None = None) -> str:
        """Keccak-256 of the alias in its canonical form, by the enclave unless another function is given.

        Raises ValueError for what cannot be a handle.
        """
        return run(self._asynchronous.alias_hash(alias, keccak))

    def publishing_key(self) -> bytes:
        """The 32-byte Ed25519 key whose IPNS name leads to the snapshots; before `generate`, of the vault made next.

        A passkey that is made with it as its user handle leads to the vault by itself.
        """
        return run(self._asynchronous.publishing_key())

    def publish(self, root_cid: str, sequence: int, validity: datetime, ttl_s: int) -> bytes:
        """An IPNS record that names a snapshot, signed by the publishing key.

        Args:
            root_cid: the snapshot.
            sequence: higher than every one before.
            validity: until when it holds, with a time zone.
            ttl_s: how many seconds an answer may be kept before asking again.
        """
        return run(self._asynchronous.publish(root_cid, sequence, validity, ttl_s))

    def publishing_delegation(self) -> bytes:
        """By it the vault's key lets the publishing key name its snapshots: a UCAN delegation in DAG-CBOR."""
        return run(self._asynchronous.publishing_delegation())

    def snapshot(self, did: str | None = None) -> Snapshot:
        """A snapshot by content of the newest stored revision, kept in the store and named in the manifest."""
        return run(self._asynchronous.snapshot(did))

    def fetch_snapshot(self, root_cid: str) -> Snapshot:
        """A snapshot from the store, else from the gateway; every byte is verified. Its vault is not opened yet."""
        return run(self._asynchronous.fetch_snapshot(root_cid))

    def keccak256(self, data: bytes) -> str:
        """Keccak-256 in 0x-hex, by the enclave."""
        return run(self._asynchronous.keccak256(data))

    def sync_init(self) -> types.SyncInitResult:
        """On the new device: an ephemeral key that waits five minutes."""
        return run(self._asynchronous.sync_init())

    def sync_respond(
        self, session_id: str, *, public_key: str | None = None, code: str | None = None
    ) -> types.SyncRespondResult:
        """On the device that holds the vault: first with the other's key, then with the six digits."""
        return run(self._asynchronous.sync_respond(session_id, public_key=public_key, code=code))

    def sync_compare(
        self, session_id: str, *, public_key: str | None = None, reveal: str | None = None
    ) -> calls.Comparison:
        """The six digits that both people compare."""
        return run(self._asynchronous.sync_compare(session_id, public_key=public_key, reveal=reveal))

    def sync_complete(
        self, session_id: str, code: str, encrypted_vault: str, key: KeyProvider
    ) -> types.SyncCompleteResult:
        """On the new device: open what came, check it, wrap it for `key` and store it."""
        return run(self._asynchronous.sync_complete(session_id, code, encrypted_vault, key))
