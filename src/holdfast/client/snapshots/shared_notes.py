"""Carries the notes about payments between a vault's devices as separate pins (decision 0868)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from holdfast.client.snapshots.hosts import pin_requested
from holdfast.client.snapshots.payment_notes import DIGEST, merged, notes_key, read_notes, sealed, unsealed
from holdfast.client.storage import snapshots
from holdfast.client.storage.notes import read_note
from holdfast.client.types import PinStatus, VaultManifest
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.client.snapshots.hosts import SnapshotHosts
    from holdfast.client.snapshots.payment_notes import NotesKey, PaymentNote
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.async_vault import AsyncVault

PIN_NAME = "payments"
FORM = "payments-1"
_LISTED = 1000


class NotedPayments:
    """The notes in this device's store. Thread-safe, also between processes. `did`: whose payments they are."""

    def __init__(self, store: VaultStore, did: str) -> None:
        self.did = did
        self._store, self._name = store, f"payments:{did}"

    def all(self) -> list[PaymentNote]:
        """Return the notes, oldest first. Raises StorageError."""
        return read_notes(read_note(self._store, self._name, list) or [])

    def add(self, notes: Iterable[PaymentNote]) -> list[PaymentNote]:
        """Add notes, and return all. Raises StorageError."""
        added = list(notes)
        while True:
            before = self._store.note(self._name)
            union = merged(self.all(), added)
            if self._store.replace_note(self._name, before, msgspec.json.encode(union).decode()):
                return union


async def noted_payments(vault: AsyncVault) -> NotedPayments:
    """Return the notes of the vault in its store. Raises ClientStateError without a vault that has a store."""
    did = (await vault.status()).did
    if vault.store is None or did is None:
        raise ClientStateError("payments are noted in the store of a vault")
    return NotedPayments(vault.store, did)


async def exchange(vault: AsyncVault, hosts: SnapshotHosts, noted: NotedPayments) -> list[PaymentNote]:
    """Exchange an unlocked vault's notes with its other devices, and return the notes of all.

    Each exchange pins the union of all notes before it unpins the parts, so nothing is lost, whatever is interrupted
    and however many devices do the same: at worst several pins remain, which the next exchange unites.

    Raises RequestRefused, NetworkError, StorageError.
    """
    pinning, did = hosts.pinning, noted.did
    if pinning is None:
        return await asyncio.to_thread(noted.all)
    key = notes_key(bytes((await vault.sign(DIGEST, deterministic=True)).signature))
    meta = {PIN_NAME: did}
    listed = await pinning.list(meta=meta, statuses=(PinStatus.PINNED,), limit=_LISTED)
    pins = [it for it in listed if meta.items() <= (it.pin.meta or {}).items()]  # services may ignore the filter
    read = await asyncio.gather(*(_notes_of(hosts, key, did, it.pin.cid) for it in pins))
    found = {it.request_id: notes for it, notes in zip(pins, read, strict=True) if notes is not None}
    theirs = [note for notes in found.values() for note in notes]
    union = await asyncio.to_thread(noted.add, theirs)
    if union and not (len(found) == 1 and theirs == union):
        stored_cid = await _pinned(hosts, did, sealed(key, did, union))
        for it in pins:
            if it.request_id in found and it.pin.cid != stored_cid:
                await pinning.delete(it.request_id)
    return union


async def _notes_of(hosts: SnapshotHosts, key: NotesKey, did: str, cid: str) -> list[PaymentNote] | None:
    """Return the notes under a pin; None for what cannot be read or is something else, and is left alone."""
    try:
        return unsealed(key, did, (await hosts.gateway.snapshot(cid)).sealed)
    except (NetworkError, StorageError):
        return None


async def _pinned(hosts: SnapshotHosts, did: str, data: bytes) -> str:
    """Upload and pin sealed notes, in the form of a snapshot, and return its root."""
    manifest = VaultManifest(root_cid=None, did=did, updated_at=0, wasm_version=FORM, schema_version=1)
    taken = await asyncio.to_thread(snapshots.take, manifest, data)
    pinned = await pin_requested(hosts, taken, PIN_NAME, {PIN_NAME: did})
    await pinned()
    return taken.root_cid
