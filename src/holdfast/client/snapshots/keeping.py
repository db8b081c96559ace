"""What a client does with its vault's snapshots: uploads them automatically, resolves conflicts and recovers vaults."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from holdfast.client.callbacks import answered
from holdfast.client.snapshots.automatic import AutomaticSnapshots
from holdfast.client.snapshots.hosts import SnapshotHosts, full_config
from holdfast.client.snapshots.publishing import Publisher, SnapshotConflict
from holdfast.client.snapshots.recovery import Recovery
from holdfast.client.snapshots.shared_notes import exchange, noted_payments
from holdfast.client.snapshots.tokens import did_of_service, service_token
from holdfast.client.snapshots.versions import (
    CLOSED_FOR_EVER,
    OtherKeys,
    carried_keys,
    compare_vaults,
    opened_beside,
    remove_all,
    removed_keys,
)
from holdfast.client.storage.sealed_header import wrap_names
from holdfast.client.vault.keys import KnownKey
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2

    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.http.calls import Retries
    from holdfast.client.snapshots.payment_notes import PaymentNote
    from holdfast.client.snapshots.recovery import Recovered
    from holdfast.client.snapshots.state import SnapshotState
    from holdfast.client.snapshots.versions import TableDifference
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import VaultSnapshotConfig
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider


class VaultSnapshots:
    """The snapshots of one client's vault. Without a vault that has a store, every method raises ClientStateError.

    `connect` returns a new connection to the servers that store the snapshots.
    """

    def __init__(
        self,
        client: AsyncServiceClient,
        vault: AsyncVault | None,
        config: VaultSnapshotConfig | None,
        on_snapshot: Callable[[SnapshotState], object] | None,
        *,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._given, self._config = vault, full_config(config)
        self._on_snapshot = on_snapshot
        # The DID of the client's service, to which tokens are addressed.
        self.audience = self._config.service_did or did_of_service(client.base_url)
        self.connect = partial(SnapshotHosts, client.base_url, self._config, retries=retries, transport=transport)
        self._hosts: SnapshotHosts | None = None
        self._closed = False
        self._publishing: Publisher | None = None
        self._tokens = 0  # made for uploads, each with the vault
        self._automatic = AutomaticSnapshots(self.publish, quiet_s=self._config.debounce_s, uses=lambda: self._tokens)
        if vault is not None and vault.store is not None:
            vault.listeners.append(self.changed)

    def changed(self) -> None:
        """Record that the vault may have changes to upload."""
        if self._publishing is not None:
            self._publishing.changed()
        if self._given is not None and self._given.store is not None and self._config.automatic:
            self._automatic.changed()

    async def state(self) -> SnapshotState:
        """See AsyncClient.snapshot_state."""
        return await self._publisher().state()

    async def publish(self) -> SnapshotState:
        """See AsyncClient.publish_snapshot."""
        vault, _ = self._vault()
        async with vault.uploading:
            try:
                state = await self._publisher().publish()
            except SnapshotConflict:
                raise
            except (NetworkError, StorageError) as error:
                await answered(vault.boot_log.report, "helia", str(error))
                raise
            await answered(vault.boot_log.report, "helia", None)
            return state

    async def exchange_notes(self) -> list[PaymentNote]:
        """See AsyncClient.payments."""
        vault, _ = self._vault()
        async with vault.uploading:
            return await exchange(vault, self._opened_hosts(), await noted_payments(vault))

    async def settle(self, within_s: float) -> bool:
        """See AsyncClient.settle_snapshots."""
        return await self._automatic.settle(within_s)

    async def compare(self, key: KeyProvider) -> list[TableDifference]:
        """See AsyncClient.compare_snapshots."""
        vault, _ = self._vault()
        async with opened_beside(vault, await self._other(), key) as other:
            return await compare_vaults(vault, other)

    async def choose(self, version: Literal["here", "there"], key: KeyProvider) -> SnapshotState:
        """See AsyncClient.choose_snapshot."""
        if version not in {"here", "there"}:
            raise ValueError("version: here or there")
        vault, _ = self._vault()
        async with vault.uploading:
            async with vault.changing:
                other = await self._other()  # the one that an upload has met last
                if version == "there":
                    await self._take(other, key)
                else:
                    await self._forget_removed(other, key)
            return await self._publisher().overrule()

    async def recover(
        self, accept: Callable[[str], object] | None, on_progress: Callable[[str], object] | None, **source: Any
    ) -> Recovered:
        """See AsyncClient.recover."""
        hosts = self.connect()
        try:
            vault, store = self._vault()
            recovery = Recovery(vault, store, hosts, accept=accept, on_progress=on_progress)
            async with vault.changing:
                return await recovery.recover(**source)
        finally:
            await hosts.close()

    async def close(self) -> None:
        """Stop, and close the connections. The vault's later changes are those of its next client."""
        self._closed = True
        if self._given is not None and self.changed in self._given.listeners:
            self._given.listeners.remove(self.changed)
        await self._automatic.close()
        if self._hosts is not None:
            await self._hosts.close()

    async def _other(self) -> Snapshot:
        """Return the other device's version in a conflict. Raises ClientStateError if no conflict exists."""
        state = await self.state()
        if state.other_root is None:
            raise ClientStateError("no other version of the vault is known")
        return await self._opened_hosts().gateway.snapshot(state.other_root)

    async def _take(self, other: Snapshot, key: KeyProvider) -> None:
        """Replace the vault with the other version, sealed as a revision that follows this device's."""
        vault, store = self._vault()
        known, ours = KnownKey(await asyncio.to_thread(key.host_key)), await carried_keys(vault)
        async with opened_beside(vault, other, known) as second:
            forget = not ours.isdisjoint(await removed_keys(second))
            forget |= await remove_all(second, await removed_keys(vault))
            await vault.lock()
            stored = await asyncio.to_thread(store.load, other.manifest.did)
            saved = await second.save()
            while stored is not None and saved.revision <= stored.revision:
                saved = await second.save()
        keep = partial(store.save, forget_older=forget)
        await asyncio.to_thread(keep, other.following_manifest, saved.database, saved.revision)
        await vault.unlock(known, saved.database)

    async def _forget_removed(self, other: Snapshot, key: KeyProvider) -> None:
        """Remove from this version of the vault any keys that were removed from the other version.

        The other version is opened only if it lacks a key that this version has. If `key` does not open the other
        version, its device was paired by an earlier release and never had this version's keys.
        """
        vault, _ = self._vault()
        if await carried_keys(vault) <= set(wrap_names(other.sealed)):
            return
        try:
            async with opened_beside(vault, other, key) as second:
                removed = await removed_keys(second)
        except OtherKeys as refused:
            if refused.code not in CLOSED_FOR_EVER:
                raise
        else:
            await remove_all(vault, removed)

    def _publisher(self) -> Publisher:
        vault, store = self._vault()
        if self._publishing is None:
            self._publishing = Publisher(vault, store, self._opened_hosts(), on_progress=self._on_snapshot)
        return self._publishing

    def _opened_hosts(self) -> SnapshotHosts:
        vault, store = self._vault()
        if self._closed:
            raise ClientStateError("the client is closed")
        if self._hosts is None:
            self._hosts = self.connect(store=store, token=partial(self._token, vault))
        return self._hosts

    async def _token(self, vault: AsyncVault, audience: str) -> str:
        self._tokens += 1
        return await service_token(vault, audience)

    def _vault(self) -> tuple[AsyncVault, VaultStore]:
        if self._given is None or self._given.store is None:
            raise ClientStateError("the client was made without a vault that has a store")
        return self._given, self._given.store
