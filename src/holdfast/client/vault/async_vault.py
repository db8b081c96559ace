"""The asyncio face of the local enclave."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from holdfast.client import types
from holdfast.client.storage.gateway import AsyncGateway, snapshot_stored
from holdfast.client.vault import calls
from holdfast.client.vault.boot import BootLog
from holdfast.client.vault.keeping import Keeper, did_of
from holdfast.client.vault.vault import file_sha256, probe, probed
from holdfast.wire.client_errors import ClientStateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import BootEvent, BootStatus
    from holdfast.client.vault.keys import KeyProvider
    from holdfast.enclave import AsyncEnclave


class AsyncVault:
    """One vault in one enclave of this process. Calls take turns off the event loop.

    Args:
        store: where sealed revisions are kept; without one the caller keeps what `lock` and `save` give.
        module: another enclave module than the bundled one (see `module_file`).
        snapshots: the gateway that is asked for blocks that are not here.
        on_event: told each boot event.

    `boot` comes first, `close` last; in between every method raises PluginCallError where the enclave refuses the
    call, and StorageError where the store fails. Before and after: ClientStateError.
    """

    def __init__(
        self,
        store: VaultStore | None = None,
        *,
        module: Path | None = None,
        snapshots: types.VaultSnapshotConfig | None = None,
        on_event: Callable[[BootEvent], None] | None = None,
    ) -> None:
        self._store, self._module = store, module
        self._snapshots = snapshots or types.VaultSnapshotConfig()
        self._log = BootLog(on_event)
        self._enclave: AsyncEnclave | None = None
        self._keeper = Keeper(store, "")
        self._closed = False
        # Revisions go to the store in the order in which the enclave made them.
        self._saving = asyncio.Lock()

    async def boot(self) -> BootStatus:
        """Start the enclave and look at the store. Raises WasmLoadError; a failing store only shows in the status."""
        if self._closed or self._enclave is not None:
            raise ClientStateError("the vault is closed" if self._closed else "the vault has been booted")
        from holdfast.enclave import AsyncEnclave  # brings the WebAssembly runtime: paid for by whoever uses it
        from holdfast.enclave.module import bundled_sha256

        with self._log.starting("enclave", required=True):
            self._enclave = await AsyncEnclave.start(self._module)
            self._keeper = Keeper(self._store, file_sha256(self._module) if self._module else bundled_sha256())
        with self._log.starting("helia", required=False):
            await asyncio.to_thread(probe, self._store)
        return self.boot_status

    @property
    def store(self) -> VaultStore | None:
        """Where sealed revisions are kept."""
        return self._store

    @property
    def boot_status(self) -> BootStatus:
        """Which subsystems are ready."""
        return self._log.status

    @property
    def boot_log(self) -> BootLog:
        """The boot's events."""
        return self._log

    async def close(self) -> None:
        """Discard the enclave and its memory, without saving. Closing again is harmless."""
        self._closed = True
        if self._enclave is not None:
            await self._enclave.aclose()
            self._enclave = None

    async def __aenter__(self) -> Self:
        if self._enclave is None:
            await self.boot()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def generate(self, given: types.GenerateInput, key: KeyProvider, **options: Any) -> calls.Generated:
        """Make a vault from a passkey's credential; it is open and stored afterwards.

        `options` are the enclave's own: `curve`, `chain_id`, `factory`, `implementation`, `salt`, `device_name`,
        `keep_val_share`.
        """
        made = await self._run(calls.generate(given, await asyncio.to_thread(key.host_key), options))
        await self._keep(made.did, made.database)
        return made

    async def load(self, database: bytes | None = None, *, did: str | None = None) -> types.LoadOutput:
        """Put a sealed vault into the enclave, where it stays locked; without bytes, the newest stored one."""
        sealed, revision = await self._sealed(database, did)
        return await self._run(calls.load(sealed, revision))

    async def unlock(
        self, key: KeyProvider, database: bytes | None = None, *, did: str | None = None
    ) -> types.UnlockOutput:
        """Open a vault: the given bytes, else the one that this enclave locked, else the newest stored one."""
        if database is None and (await self._run(calls.status())).initialized:
            return await self._run(calls.unlock(await asyncio.to_thread(key.host_key), None, None))
        sealed, revision = await self._sealed(database, did)
        return await self._run(calls.unlock(await asyncio.to_thread(key.host_key), sealed, revision))

    async def lock(self) -> types.LockOutput:
        """Seal, store and erase."""
        async with self._saving:
            did = (await self._run(calls.status())).did
            locked = await self._run(calls.lock())
            if locked.success and locked.database is not None and did is not None:
                await self._keep(did, locked.database)
            return locked

    async def save(self) -> calls.Saved:
        """Seal and store; the vault stays open."""
        async with self._saving:
            did = (await self._run(calls.status())).did
            saved = await self._run(calls.save())
            await self._keep(did or "", saved.database)
            return saved

    async def status(self) -> types.StatusOutput:
        """Whether there is a vault, whose, and whether it is locked."""
        return await self._run(calls.status())

    async def query(self, did: str = "") -> types.QueryOutput:
        """Verification methods, accounts and credentials; empty: of the vault's own DID."""
        return await self._run(calls.query(did))

    async def exec(
        self,
        filter: str,  # noqa: A002 - the interface's name
        args: Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        audience: str | None = None,
    ) -> types.ExecOutput[Any]:
        """Do `resource:<name> action:<name>`, perhaps under a UCAN; what changes the vault is stored.

        Without `audience`, the DID of whoever brings the `token`, a delegation is good in anybody's hands.
        """
        return await self._run(calls.execute(filter, args, token, audience))

    async def sign(self, digest: bytes) -> types.SignResult:
        """Sign 32 bytes: r ‖ s with a low s."""
        return await self._run(calls.sign(digest))

    async def derive_address(self, chain: str = "ethereum", **options: Any) -> types.DeriveAddressResult:
        """The key's address on "ethereum", "bitcoin" or "cosmos".

        Options: `factory`, `implementation` and `salt` for a smart account; `form` ("p2tr", "p2wpkh") for Bitcoin;
        `prefix` for Cosmos. Raises PluginCallError where the chain has no address for the key's curve.
        """
        return await self._run(calls.derive_address(chain, options))

    async def parse_webauthn(self, credential: str | bytes) -> types.ParseWebAuthnResult:
        """Read a WebAuthn credential strictly."""
        return await self._run(calls.parse_webauthn(credential))

    async def create_registration(
        self, given: types.CreateRegistrationInput, **options: Any
    ) -> types.RegistrationResult:
        """Prepare an on-chain registration; `options` are the enclave's: `registry_addr`, `step`, `secret`, ..."""
        return await self._run(calls.create_registration(given, options))

    async def sign_user_op(self, user_op: types.UserOp, entry_point: str, chain_id: int) -> types.SignUserOpResult:
        """Sign a user operation for an entry point and a chain."""
        return await self._run(calls.sign_user_op(user_op, entry_point, chain_id))

    async def mint_delegation(self, given: types.DelegationOptions, **options: Any) -> calls.MintedUcan:
        """Sign a UCAN delegation of the vault's authority, or pass on the chain in `token`."""
        return await self._run(calls.mint_delegation(given, options))

    async def mint_invocation(self, given: types.InvocationOptions, **options: Any) -> calls.MintedUcan:
        """Sign a UCAN invocation."""
        return await self._run(calls.mint_invocation(given, options))

    async def verify_ucan(self, token: str | bytes, **demand: Any) -> calls.UcanClaims:
        """Verify a UCAN; `demand`: `proofs`, `audience`, `subject`, `command`, `args`, `now`, `revoked`."""
        return await self._run(calls.verify_ucan(token, demand))

    async def did_key(self) -> str:
        """The vault's key as `did:key`: the issuer of its delegations, and the audience of delegations to it."""
        method = (await self._run(calls.query(""))).verification_methods[0]
        return (await self._run(calls.did_key(method))).did

    async def refresh_shares(self, *, rotate: bool = False) -> types.EncryptedShares:
        """Other shares of the same key; with `rotate` under new sealing keys too."""
        return await self._run(calls.refresh_shares(rotate=rotate))

    async def export(self, options: types.VaultExportOptions) -> types.VaultExportOutput:
        """The vault in MTRV format, sealed by a password."""
        return await self._run(calls.export(options))

    async def import_(self, options: types.VaultImportOptions, key: KeyProvider) -> types.VaultImportOutput:
        """Take a vault from MTRV format and wrap it for `key`."""
        return await self._run(calls.import_(options, await asyncio.to_thread(key.host_key)))

    async def add_key(self, key: KeyProvider) -> calls.Wraps:
        """Let one more key open the vault."""
        return await self._run(calls.add_wrap(await asyncio.to_thread(key.host_key)))

    async def remove_key(self, kind: str, key_id: str) -> calls.Wraps:
        """Take a key's wrap away; the last one stays."""
        return await self._run(calls.remove_wrap(kind, key_id))

    async def keys(self) -> calls.Wraps:
        """Which keys open the vault, by kind and id."""
        return await self._run(calls.list_wraps())

    async def set_auto_lock(self, idle_seconds: int) -> None:
        """Let the enclave lock itself after so many seconds without a call; 0 never."""
        await self._run(calls.set_auto_lock(idle_seconds))

    async def alias_hash(self, alias: str, keccak: types.Keccak256Fn | None = None) -> str:
        """Keccak-256 of the lower-cased alias, by the enclave unless another function is given."""
        if keccak is not None:
            return keccak(alias.lower().encode())
        return (await self._run(calls.keccak256(alias.lower().encode()))).hash

    async def snapshot(self, did: str | None = None) -> Snapshot:
        """A snapshot by content of the newest stored revision, kept in the store and named in the manifest."""
        return await asyncio.to_thread(snapshot_stored, probed(self._store), did)

    async def fetch_snapshot(self, root_cid: str) -> Snapshot:
        """A snapshot from the store, else from the gateway; every byte is verified. Its vault is not opened yet."""
        gateway = AsyncGateway(self._snapshots.gateway_url, probed(self._store))
        try:
            return await gateway.snapshot(root_cid)
        finally:
            await gateway.close()

    async def keccak256(self, data: bytes) -> str:
        """Keccak-256 in 0x-hex, by the enclave."""
        return (await self._run(calls.keccak256(data))).hash

    async def sync_init(self) -> types.SyncInitResult:
        """On the new device: an ephemeral key that waits five minutes."""
        return await self._run(calls.sync_init())

    async def sync_respond(
        self, session_id: str, *, public_key: str | None = None, code: str | None = None
    ) -> types.SyncRespondResult:
        """On the device that holds the vault: first with the other's key, then with the six digits."""
        return await self._run(calls.sync_respond(session_id, public_key=public_key, code=code))

    async def sync_compare(
        self, session_id: str, *, public_key: str | None = None, reveal: str | None = None
    ) -> calls.Comparison:
        """The six digits that both people compare."""
        return await self._run(calls.sync_compare(session_id, public_key=public_key, reveal=reveal))

    async def sync_complete(
        self, session_id: str, code: str, encrypted_vault: str, key: KeyProvider
    ) -> types.SyncCompleteResult:
        """On the new device: open what came, check it, wrap it for `key` and store it."""
        return await self._run(
            calls.sync_complete(session_id, code, encrypted_vault, await asyncio.to_thread(key.host_key))
        )

    async def _run(self, call: calls.EnclaveCall[calls.T]) -> calls.T:
        answer = call.read(await self._ready.call(call.name, **call.arguments))
        if call.changes and self._keeper.store is not None and getattr(answer, "success", True):
            await self.save()
        return answer

    @property
    def _ready(self) -> AsyncEnclave:
        if self._enclave is None:
            raise ClientStateError("the vault is closed" if self._closed else "the vault has not been booted")
        return self._enclave

    async def _keep(self, did: str, sealed: bytes) -> None:
        await asyncio.to_thread(self._keeper.keep, did, sealed)

    async def _sealed(self, database: bytes | None, did: str | None) -> tuple[bytes, int | None]:
        if database is not None:
            # Not older than what is stored: somebody may have kept a copy from before a key was removed.
            seen = await asyncio.to_thread(self._keeper.newest, did_of(database))
            return database, seen.revision if seen else None
        stored = await asyncio.to_thread(self._keeper.newest, did)
        if stored is None:
            raise ClientStateError("no vault is stored here")
        return stored.sealed, stored.revision
