"""A vault in a local enclave, for asyncio. The blocking `Vault` is generated from this class."""

from __future__ import annotations

import asyncio
import hashlib
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from holdfast.client import types
from holdfast.client.callbacks import answered, outside
from holdfast.client.http.calls import Retries
from holdfast.client.http.transport import HttpTransport
from holdfast.client.installed import require_libp2p
from holdfast.client.storage.gateway import PROBE, AsyncGateway, snapshot_stored
from holdfast.client.vault import calls, removed_keys
from holdfast.client.vault.boot import BootLog
from holdfast.client.vault.keeping import Keeper, did_of
from holdfast.client.vault.own_key import key_of
from holdfast.client.vault.passwords import MIN_CHARACTERS, checked_password
from holdfast.client.vault.second_share import shares_of, with_share
from holdfast.wire.client_errors import ClientStateError, PluginCallError, ServiceError, StorageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import BootEvent, BootStatus
    from holdfast.client.vault.keys import KeyProvider
    from holdfast.client.vault.own_key import OwnKey
    from holdfast.client.vault.second_share import ShareKeeper, ShareSource, ValShare
    from holdfast.enclave import AsyncEnclave

_PROBE_S = 5.0


class AsyncVault:
    """A vault in an enclave within this process. Calls run one after another, in a thread other than the event loop's.

    Args:
        store: stores sealed revisions. Without one the caller stores what `lock` and `save` return.
        module: an enclave module to load instead of the bundled one (see `module_file`).
        snapshots: the gateways from which missing blocks are fetched.
        on_event: called with each boot event.
        val_share: returns a key's second share whenever the key signs, for a vault created with `keep_share`.

    Call `boot` first and `close` last. In between, each method raises PluginCallError if the enclave refuses the
    call and StorageError if the store fails; before and after, ClientStateError.
    """

    def __init__(
        self,
        store: VaultStore | None = None,
        *,
        module: Path | None = None,
        snapshots: types.VaultSnapshotConfig | None = None,
        on_event: Callable[[BootEvent], None] | None = None,
        val_share: ShareSource | None = None,
    ) -> None:
        self._store, self._module = store, module
        self._snapshots = snapshots or types.VaultSnapshotConfig()
        self._log = BootLog(on_event)
        self._share = val_share
        self._enclave: AsyncEnclave | None = None
        self._keeper = Keeper(store, "")
        self._closed = False
        # Revisions are stored in the order in which the enclave sealed them.
        self._saving = asyncio.Lock()
        # Held by an upload of a snapshot; and by what changes the state of the snapshots, not while it waits for a pin.
        self.uploading, self.changing = asyncio.Lock(), asyncio.Lock()
        self._listeners: list[Callable[[], None]] = []

    async def boot(self) -> BootStatus:
        """Start the enclave, test the store, and check whether libp2p is installed.

        Raises WasmLoadError. A failing store or missing libp2p is only reported in the boot status.
        """
        if self._closed or self._enclave is not None:
            raise ClientStateError("the vault is closed" if self._closed else "the vault has been booted")
        from holdfast.enclave.module import bundled_sha256

        async with self._log.starting("enclave", required=True):
            await self._start()
            self._keeper = Keeper(self._store, file_sha256(self._module) if self._module else bundled_sha256())
        async with self._log.starting("helia", required=False):
            await asyncio.to_thread(check_readable, self._store)
            await check_gateway(self._snapshots)
        async with self._log.starting("libp2p", required=False):
            require_libp2p()
        return self.boot_status

    @property
    def store(self) -> VaultStore | None:
        """The store for sealed revisions of the vault, or None."""
        return self._store

    @property
    def snapshot_config(self) -> types.VaultSnapshotConfig:
        """The settings that say where snapshots are stored and read."""
        return self._snapshots

    @property
    def listeners(self) -> list[Callable[[], None]]:
        """Functions called in the event loop's thread after a revision is stored or a vault is unlocked."""
        return self._listeners

    @property
    def boot_status(self) -> BootStatus:
        """The status of the subsystems."""
        return self._log.status

    @property
    def boot_log(self) -> BootLog:
        """The events of the boot."""
        return self._log

    async def close(self) -> None:
        """Discard the enclave and its memory without saving. Repeated calls have no effect."""
        self._closed = True
        if self._enclave is not None:
            await self._enclave.aclose()
            self._enclave = None
        self._log.ended()

    async def __aenter__(self) -> Self:
        if self._enclave is None:
            await self.boot()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def generate(
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
        if keep_share is not None:
            options = {**options, "keep_val_share": False}
        fields = {**given.to_json(), **options, "key": (await outside(key.host_key)).fields()}
        made = await self._run("generate", fields, calls.Generated)
        if keep_share is not None:
            await self._hand_over(keep_share, shares_of(made))
        await self._or_discarded(self._keep(made.did, made.database))
        return made

    async def load(
        self, database: bytes | types.LoadInput | None = None, *, did: str | None = None
    ) -> types.LoadOutput:
        """Load a sealed vault, by default the newest stored one, into the enclave. The vault stays locked."""
        sealed, revision = await self._sealed(database, did)
        return await self._run("load", {"database": sealed, "min_revision": revision}, types.LoadOutput)

    async def unlock(
        self, key: KeyProvider, database: bytes | types.UnlockInput | None = None, *, did: str | None = None
    ) -> types.UnlockOutput:
        """Unlock a sealed vault: the given one, or the one that this enclave locked, or else the newest stored one."""
        sealed, revision = None, None
        if database is not None or not (await self.status()).initialized:
            sealed, revision = await self._sealed(database, did)
        opening = (await outside(key.host_key)).opening_fields()
        fields = {"key": opening, "database": sealed, "min_revision": revision}
        opened = await self._run("unlock", fields, types.UnlockOutput)
        if opened.success:
            self._tell_changed()
        return opened

    async def lock(self) -> types.LockOutput:
        """Seal and store the vault, and erase it from memory."""
        async with self._saving:
            did = (await self.status()).did
            self._keeper.sealing()
            locked = await self._run("lock", {}, types.LockOutput)
            if locked.success and locked.database is not None and did is not None:
                await self._keep(did, locked.database)
            return locked

    async def save(self) -> calls.Saved:
        """Seal and store the vault, which stays unlocked."""
        async with self._saving:
            return await self._save()

    async def status(self) -> types.StatusOutput:
        """Return whether a vault exists, its DID, and whether it is locked."""
        return await self._run("status", {}, types.StatusOutput)

    async def query(self, did: str | types.QueryInput = "") -> types.QueryOutput:
        """Return a DID's verification methods, accounts and credentials, by default those of the vault's own DID."""
        wanted = did.did if isinstance(did, types.QueryInput) else did
        return await self._run("query", {"did": wanted}, types.QueryOutput)

    async def exec(
        self,
        filter: str | types.ExecInput,  # noqa: A002 - the interface's name
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
        given = filter if isinstance(filter, types.ExecInput) else types.ExecInput(filter=filter)
        fields = {"filter": given.filter, "args": args, "token": token or given.token, "audience": audience}
        return await self._run("exec", fields, types.ExecOutput[Any], changes=True)

    async def sign(
        self, digest: bytes, *, val_share: ValShare | None = None, deterministic: bool = False
    ) -> types.SignResult:
        """Sign 32 bytes and return r ‖ s with a low s.

        Args:
            digest: the bytes.
            val_share: the second share, if not to be fetched.
            deterministic: the same signature each time (RFC 6979).
        """
        fields: dict[str, object] = {"digest": digest, "val_share": await self._second(val_share)}
        return await self._run(
            "sign", {**fields, **({"deterministic": True} if deterministic else {})}, types.SignResult
        )

    async def derive_address(self, chain: str = "ethereum", **options: object) -> types.DeriveAddressResult:
        """Return the vault key's address on the chain "ethereum", "bitcoin" or "cosmos".

        Options: `factory`, `implementation` and `salt` for a smart account; `form` ("p2wpkh", "p2tr") for Bitcoin;
        `prefix` for Cosmos. Raises PluginCallError if the chain has no address for the key's curve.
        """
        return await self._run("derive_address", {"chain": chain, **options}, types.DeriveAddressResult)

    async def parse_webauthn(self, credential: str | bytes) -> types.ParseWebAuthnResult:
        """Parse a WebAuthn credential strictly."""
        return await self._run("parse_webauthn", {"credential": credential}, types.ParseWebAuthnResult)

    async def create_registration(
        self, given: types.CreateRegistrationInput, **options: object
    ) -> types.RegistrationResult:
        """Prepare the on-chain registration of the vault's DID, or of a DID that uses a different method.

        The alias is converted to its canonical form. `options` are those of the enclave's function: `registry_addr`,
        `entry_point`, `factory`, `implementation`, `salt`, `nonce`, `deployed`, `secret`, `step`, `registered`. Raises
        ValueError for an invalid alias.
        """
        fields = {**given.to_json(), "alias": calls.alias_of(given.alias), **options}
        # Unless `secret` is given, the claim uses a secret that the vault derives from its seed. A vault that was
        # created before seeds existed gets its seed here.
        makes_secret = bool(given.alias or given.did) and "secret" not in options
        return await self._run("create_registration", fields, types.RegistrationResult, changes=makes_secret)

    async def sign_user_op(
        self, user_op: types.UserOp, entry_point: str, chain_id: int, *, val_share: ValShare | None = None
    ) -> types.SignUserOpResult:
        """Sign a user operation for an entry point and a chain. `val_share` is the same as for `sign`."""
        fields = {"user_op": user_op.to_json(), "entry_point": entry_point, "chain_id": chain_id}
        return await self._run(
            "sign_user_op", {**fields, "val_share": await self._second(val_share)}, types.SignUserOpResult
        )

    async def sign_account_message(
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
        fields = {**message, "val_share": await self._second(val_share)}
        return await self._run("sign_account_message", fields, calls.SignedAccountMessage)

    async def mint_delegation(self, given: types.DelegationOptions, **options: object) -> calls.MintedUcan:
        """Sign a UCAN delegation of the vault's own authority or, with `token`, of the authority in that token.

        UCAN 1.0 does not bind a delegation to its proof: with `token`, the delegation is also valid under any wider
        token that this vault was given for the same subject, if its bearer has that token. So restrict the delegation
        itself, by `policy` and `expiration`, as narrowly as the authority that you mean to pass on.
        """
        return await self._mint(given, options, "delegation", changes=True)

    async def mint_invocation(self, given: types.InvocationOptions, **options: object) -> calls.MintedUcan:
        """Sign a UCAN invocation.

        With `record=False` the vault does not store the invocation, which must then name its `audience` and expire
        after at most ten minutes. The client authorizes uploads of snapshots with unrecorded invocations.
        """
        return await self._mint(given, options, "invocation", changes=bool(options.get("record", True)))

    async def verify_ucan(self, token: str | bytes, **demand: object) -> calls.UcanClaims:
        """Verify a UCAN. `demand`: `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`."""
        return await self._run("verify_ucan", {"token": token, **demand}, calls.UcanClaims)

    async def publishing_key(self) -> calls.PublishingKey:
        """Return the public key that verifies the vault's IPNS records.

        Before `generate`, this is the key that the new vault will have, so that the passkey can be created with the
        key's `user_handle` as its own.
        """
        return await self._run("publishing_key", {}, calls.PublishingKey, changes=True)

    async def publish(self, root_cid: str, sequence: int, validity: datetime, ttl_ns: int) -> calls.PublishedRecord:
        """Sign an IPNS record that names a snapshot.

        Args:
            root_cid: the snapshot's root, a CIDv1 in base32.
            sequence: higher than in every earlier record, which the enclave does not check. At most 2^53 - 1.
            validity: when the record expires; in the future, with a time zone.
            ttl_ns: how long a resolver may cache the record, in nanoseconds.

        Raises ValueError if `validity` has no time zone, PluginCallError for an invalid field.
        """
        until = calls.instant_ns(validity)
        fields = {"root_cid": root_cid, "sequence": sequence, "validity": until, "ttl_ns": ttl_ns}
        # A vault that was created without a publishing key gets one here.
        return await self._run("publish", fields, calls.PublishedRecord, changes=True)

    async def publishing_delegation(self) -> calls.MintedUcan:
        """Return the vault's delegation of `/snapshots/publish` to the publishing key, for a snapshot's manifest.

        The first call mints and stores the delegation; later calls return the same one unless it was revoked.
        """
        fields = await self._with_share({})
        return await self._run("publishing_delegation", fields, calls.MintedUcan, changes=True)

    async def did_key(self) -> str:
        """Return the vault's key as `did:key`, the issuer of its delegations and the audience of delegations to it."""
        key = await self.own_key()
        fields = {"public_key": key.point, "curve": key.curve}
        return (await self._run("did_key", fields, calls.DidKey)).did

    async def own_key(self) -> OwnKey:
        """Return the key whose hash is the vault's DID.

        It is one of the vault's keys. The table `verification_methods` states keys, too, but the statements may be
        wrong. Raises PluginCallError, for example if the vault is locked.
        """
        listed = await self.exec("resource:enclaves action:list")
        if not listed.success:
            raise PluginCallError("exec", str(listed.error), (listed.error or "").partition(":")[0])
        return key_of((await self.query()).did, listed.result or ())

    async def refresh_shares(
        self, *, rotate: bool = False, val_share: ValShare | None = None, keep_share: ShareKeeper | None = None
    ) -> types.EncryptedShares:
        """Replace a key's shares with new shares of the same key. With `rotate`, the sealing keys are also new.

        If the vault does not keep its second share, `keep_share` stores the new one. Keep the old share until this call
        returns, because the stored vault needs it until the new revision is stored.

        Raises ValueError, before anything changes, if there is a second share but nothing that stores the new one.
        """
        second = await self._second(val_share)
        if second is not None and keep_share is None:
            raise ValueError("pass keep_share: the new second share must be stored, as the old one becomes useless")
        async with self._saving:
            fields = {"rotate": rotate, "val_share": second}
            fresh = await self._answer("refresh_shares", fields, types.EncryptedShares)
            if keep_share is not None:
                await self._hand_over(keep_share, fresh)
            await self._store_due()
            return fresh

    async def export(
        self, options: types.VaultExportOptions, *, min_password: int = MIN_CHARACTERS
    ) -> types.VaultExportOutput:
        """Return the vault in MTRV format, encrypted under a password.

        Raises ValueError for a password of fewer than `min_password` characters (at least 8) or fewer than five
        different ones.
        """
        checked_password(options.password, min_password)
        return await self._run("export", {"password": options.password}, types.VaultExportOutput)

    async def import_(self, options: types.VaultImportOptions, key: KeyProvider) -> types.VaultImportOutput:
        """Import a vault from MTRV format, wrap it for `key` and store it.

        Raises StorageError if a vault of this DID is stored here; then nothing is stored, and no vault is open.
        """
        wrapping = (await outside(key.host_key)).fields()
        fields = {"data": options.data, "password": options.password, "key": wrapping}
        done = await self._run("import", fields, types.VaultImportOutput)
        await self._store_new(done.did if done.success else None)
        return done

    async def add_key(self, key: KeyProvider) -> calls.Wraps:
        """Wrap the vault for an additional key."""
        answer = await self._ready.together(removed_keys.add, (await outside(key.host_key)).fields())
        await self._store_changes(forget=False)
        return calls.Wraps.from_json(answer)

    async def remove_key(self, kind: str, key_id: str, *, remaining: Sequence[KeyProvider] = ()) -> calls.Wraps:
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
        given = [(await outside(key.host_key)).fields() for key in remaining]
        answer = await self._ready.together(removed_keys.remove, kind, key_id, given)
        await self._store_changes(forget=True)
        return calls.Wraps.from_json(answer)

    async def keys(self) -> calls.Wraps:
        """Return the kind and ID of each key that unlocks the vault."""
        return await self._run("list_wraps", {}, calls.Wraps)

    async def set_auto_lock(self, idle_seconds: int) -> None:
        """Make the enclave lock the vault after this many seconds without a call; 0 turns automatic locking off."""
        await self._run("set_auto_lock", {"idle_seconds": idle_seconds}, calls.AutoLockSetting)

    async def alias_hash(self, alias: str, keccak: types.Keccak256Fn | None = None) -> str:
        """Return the Keccak-256 hash of the alias in its canonical form. By default, the enclave computes the hash.

        Raises ValueError for an invalid handle.
        """
        canonical = calls.alias_of(alias).encode()
        if keccak is not None:
            return str(await answered(keccak, canonical))
        return await self.keccak256(canonical)

    async def snapshot(self, did: str | None = None) -> Snapshot:
        """Make a snapshot of the newest stored revision, and store it and, in a manifest that names none, its root."""
        return await asyncio.to_thread(snapshot_stored, require_store(self._store), did)

    async def fetch_snapshot(self, root_cid: str) -> Snapshot:
        """Return a verified snapshot from the store or else from the gateways, without unlocking its vault."""
        gateway = AsyncGateway(self._snapshots.gateway_url, require_store(self._store))
        try:
            return await gateway.snapshot(root_cid)
        finally:
            await gateway.close()

    async def keccak256(self, data: bytes) -> str:
        """Let the enclave compute a Keccak-256 hash, and return it as 0x-hex."""
        return (await self._run("keccak256", {"data": data}, calls.Digest)).hash

    async def sync_init(self) -> types.SyncInitResult:
        """Create, on the new device, an ephemeral key that is valid for five minutes."""
        return await self._run("sync_init", {}, types.SyncInitResult)

    async def sync_respond(
        self, session_id: str, *, public_key: str | None = None, code: str | None = None
    ) -> calls.Released:
        """Respond, on the device that holds the vault, to the new device's key and then to the six digits.

        The response to the digits includes `sealed_vault`, which contains the wraps of all passkeys and passwords, for
        `sync_complete`. Raises PluginCallError if the vault has sixteen keys already.
        """
        fields = {"session_id": session_id, "public_key": public_key, "code": code, "with_keys": True}
        return await self._run("sync_respond", fields, calls.Released, changes=code is not None)

    async def sync_compare(
        self, session_id: str, *, public_key: str | None = None, reveal: str | None = None
    ) -> calls.Comparison:
        """Return the six digits that both people compare."""
        fields = {"session_id": session_id, "public_key": public_key, "reveal": reveal}
        return await self._run("sync_compare", fields, calls.Comparison)

    async def sync_complete(
        self, session_id: str, code: str, encrypted_vault: str, key: KeyProvider, *, sealed_vault: str | None = None
    ) -> types.SyncCompleteResult:
        """Receive the vault on the new device: unlock it, check it, wrap it for `key` and store it.

        With `sealed_vault`, the other device's passkeys and passwords also unlock the vault; otherwise only `key` does.
        Pass "" for `sealed_vault` if the other device sent none; the call then fails if one was removed in transit.
        Raises PluginCallError (`sync_rejected`) if either was changed or removed, StorageError if a vault of this DID
        is stored here; then nothing is stored.
        """
        fields = {"session_id": session_id, "code": code, "encrypted_vault": encrypted_vault}
        more = {"sealed_vault": sealed_vault, "key": (await outside(key.host_key)).fields()}
        done = await self._run("sync_complete", {**fields, **more}, types.SyncCompleteResult)
        if done.error == "sync_rejected" and sealed_vault is not None:
            raise PluginCallError("sync_complete", "the vault did not come whole with its other keys", done.error)
        await self._store_new(done.did if done.success else None)
        return done

    async def _store_new(self, did: str | None) -> None:
        """Store a received vault, or discard it if a vault with its DID is stored already; None: none was received."""
        if did is not None:
            await self._or_discarded(self._store_if_new(did))

    async def _store_if_new(self, did: str) -> None:
        await asyncio.to_thread(self._keeper.check_new, did)
        await self._store_changes(forget=False)

    async def _or_discarded(self, storing: Awaitable[None]) -> None:
        """Store a new vault. One that cannot be stored is discarded, so that it is not in the next one's way."""
        try:
            await storing
        except StorageError:
            await self._ready.aclose()
            self._keeper.discarded()
            await self._start()
            raise

    async def _start(self) -> None:
        from holdfast.enclave import AsyncEnclave  # imports the WebAssembly runtime, so only where it is needed

        self._enclave = await AsyncEnclave.start(self._module)
        self._enclave.enclave.on_locked = partial(_tell_locked, weakref.ref(self), asyncio.get_running_loop())

    async def _locked_itself(self) -> None:
        """Store a revision that could not be stored before, from the sealed bytes that the enclave has retained."""
        if self._keeper.due(unsaved=False):
            with suppress(ServiceError):
                await self.lock()

    async def _second(self, given: ValShare | None) -> ValShare | None:
        if given is not None or self._share is None:
            return given
        return await outside(self._share)

    async def _with_share(self, options: dict[str, Any]) -> dict[str, Any]:
        return await outside(with_share, options, self._share)

    async def _mint(
        self, given: types.Record, options: dict[str, Any], kind: str, *, changes: bool
    ) -> calls.MintedUcan:
        fields = {**given.to_json(), **(await self._with_share(options)), "kind": kind}
        return await self._run("mint_ucan", fields, calls.MintedUcan, changes=changes)

    async def _answer(self, name: str, fields: Mapping[str, object], kind: type[calls.T]) -> calls.T:
        return calls.read(name, await self._ready.call(name, **calls.arguments(fields)), kind)

    async def _run(
        self, name: str, fields: Mapping[str, object], kind: type[calls.T], *, changes: bool = False
    ) -> calls.T:
        """Call a function of the enclave. With `changes`, store the vault afterwards if it changed."""
        answer = await self._answer(name, fields, kind)
        if changes and getattr(answer, "success", True):
            await self._store_changes(forget=False)
        return answer

    async def _store_changes(self, *, forget: bool) -> None:
        async with self._saving:
            if forget:
                self._keeper.forget()
            await self._store_due()

    async def _store_due(self) -> None:
        if self._keeper.due(unsaved=(await self._run("status", {}, calls.Unsaved)).unsaved):
            await self._save()

    async def _hand_over(self, keep_share: ShareKeeper, shares: types.EncryptedShares) -> None:
        try:
            await outside(keep_share, shares)
        except BaseException:
            # The second share that the unlocked vault needs could not be stored, so the vault is discarded instead of
            # saved.
            await self.close()
            raise

    async def _save(self) -> calls.Saved:
        did = (await self.status()).did
        self._keeper.sealing()
        saved = await self._run("save", {}, calls.Saved)
        await self._keep(did or "", saved.database)
        return saved

    @property
    def _ready(self) -> AsyncEnclave:
        if self._enclave is None:
            raise ClientStateError("the vault is closed" if self._closed else "the vault has not been booted")
        return self._enclave

    async def _keep(self, did: str, sealed: bytes) -> None:
        await asyncio.to_thread(self._keeper.keep, did, sealed)
        if self._store is not None:
            self._tell_changed()

    def _tell_changed(self) -> None:
        for listener in self._listeners:
            listener()

    async def _sealed(
        self, database: bytes | types.LoadInput | types.UnlockInput | None, did: str | None
    ) -> tuple[bytes, int | None]:
        if database is not None:
            # An older revision is refused, because it may be an attacker's copy from before a key was removed.
            sealed = database.database if isinstance(database, (types.LoadInput, types.UnlockInput)) else database
            seen = await asyncio.to_thread(self._keeper.newest, did_of(sealed))
            return sealed, seen.revision if seen else None
        stored = await asyncio.to_thread(self._keeper.newest, did)
        if stored is None:
            raise ClientStateError("no vault is stored here")
        return stored.sealed, stored.revision


def _tell_locked(reference: weakref.ref[AsyncVault], loop: asyncio.AbstractEventLoop) -> None:
    if (vault := reference()) is not None and loop.is_running():
        asyncio.run_coroutine_threadsafe(vault._locked_itself(), loop)  # noqa: SLF001 - the vault's own timer


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of an enclave module's file in hex, as stored in `VaultManifest.wasmVersion`."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_readable(store: VaultStore | None) -> None:
    """Check that the store can write blocks and read them back. Raises StorageError, ClientStateError."""
    require_store(store).try_block()


async def check_gateway(config: types.VaultSnapshotConfig) -> None:
    """Check that the configured gateway responds to the probe that the trustless gateway specification defines.

    Raises NetworkError.
    """
    if config.gateway_url is None:
        return
    gateway = HttpTransport(config.gateway_url, timeout=_PROBE_S, retries=Retries(attempts=1))
    try:
        await gateway.send(PROBE)
    finally:
        await gateway.close()


def require_store(store: VaultStore | None) -> VaultStore:
    """Return the store. Raises ClientStateError if none exists."""
    if store is None:
        raise ClientStateError("the vault has no store: pass `store` when you make it")
    return store
