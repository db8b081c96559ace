"""Puts the vault's copy at the new service, and reads it back from there.

What the store notes about snapshots stays about the previous service until the move is finished.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from holdfast.client.moving.values import MoveRefused
from holdfast.client.snapshots.hosts import pin_requested
from holdfast.client.snapshots.publishing import PIN_NAME, meta_of, signed_record, snapshot_after
from holdfast.client.snapshots.state import keep_record, pinned_state, read_state, write_state
from holdfast.client.snapshots.tokens import service_token
from holdfast.client.snapshots.versions import opened_beside
from holdfast.wire.client_errors import ClientStateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.snapshots.hosts import SnapshotHosts
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import StoredVault, VaultStore
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider


class Copy(NamedTuple):
    """A snapshot that a service has acknowledged, with its IPNS record and the stored revision that it contains."""

    snapshot: Snapshot
    record: bytes
    sequence: int
    stored: StoredVault
    service: str


async def copy_to(
    vault: AsyncVault, store: VaultStore, connect: Callable[..., SnapshotHosts], key: KeyProvider
) -> Copy:
    """Upload the newest revision, publish it under the vault's name, and read it back, not from this machine's store.

    `connect` reaches the new service; `key` is the new passkey's, which must open what was read. Raises MoveRefused,
    RequestRefused, NetworkError, StorageError, ClientStateError.
    """
    did = (await vault.status()).did or ""
    stored = await asyncio.to_thread(store.load, did)
    if stored is None:
        raise ClientStateError("no vault is stored here")
    state = await asyncio.to_thread(read_state, store, did)
    delegation = bytes((await vault.publishing_delegation()).signed_dag_cbor)
    taken = await snapshot_after(state.acknowledged_root, stored, delegation)
    hosts = connect(token=partial(service_token, vault))
    try:
        pinned = await pin_requested(hosts, taken, PIN_NAME, meta_of(did))
        await pinned()
        name = (await vault.publishing_key()).name
        there = await hosts.gateway.record(name)
        # Higher than both services' records, so that neither can pass an older copy off as the newest one.
        sequence = max(state.sequence, there.sequence if there else 0) + 1
        record = await signed_record(vault, taken.root_cid, sequence)
        await hosts.publish(name, record)
        there = await hosts.gateway.record(name)
        if there is None or there.data != record:
            raise MoveRefused("other_copy", "the new service does not return the copy's name as it was published")
        found = await hosts.gateway.snapshot(taken.root_cid)
    finally:
        await hosts.close()
    if found.sealed != taken.sealed:
        raise MoveRefused("other_copy", "the new service does not return the vault as it was uploaded")
    async with opened_beside(vault, found, key):
        return Copy(taken, record, sequence, stored, hosts.service)


async def continue_there(vault: AsyncVault, store: VaultStore, made: Copy) -> None:
    """Note that from now on the vault's snapshots are those of the new service."""
    async with vault.changing:
        await asyncio.to_thread(_note, store, made)


def _note(store: VaultStore, made: Copy) -> None:
    did, root = made.snapshot.manifest.did, made.snapshot.root_cid
    keep_record(store, did, made.record)
    write_state(store, pinned_state(did, root, made.stored.revision, made.sequence, made.service))
    store.update_manifest(msgspec.structs.replace(made.stored.manifest, root_cid=root), made.stored.sealed)
