"""Uploads a vault's newest revision and publishes it under the vault's IPNS name."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import msgspec

from holdfast.client.callbacks import answered
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.hosts import pin_requested
from holdfast.client.snapshots.state import SnapshotState, is_due, keep_record, read_state, write_state
from holdfast.client.storage import snapshots
from holdfast.client.storage.vault_file import forgotten_note
from holdfast.wire.client_errors import ClientStateError, ServiceError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.snapshots.hosts import SnapshotHosts
    from holdfast.client.storage.snapshots import Snapshot
    from holdfast.client.storage.vault_store import StoredVault, VaultStore
    from holdfast.client.types import PinRequest
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.content.records import Record

# A record must stay valid for years after its device is lost, but caches may use it for only a minute.
VALIDITY = timedelta(days=20 * 365)
TTL_NS = 60 * 1_000_000_000
PIN_NAME = "vault"
_CONFLICT = 409
_LISTED = 1000


class SnapshotConflict(StorageError):
    """Another device published a snapshot that is not based on this device's latest one. Nothing was merged or changed.

    `other_root` is the other device's snapshot.
    """

    def __init__(self, other_root: str) -> None:
        super().__init__(
            "another device has changed the vault too: both versions are kept; compare them, then choose one"
        )
        self.other_root = other_root


class Publishing(NamedTuple):
    """A vault's IPNS name, and the delegation from its key to the publishing key, as signed DAG-CBOR."""

    name: str
    delegation: bytes


class Publisher:
    """Uploads, pins and publishes an unlocked vault's newest revision, from where the previous attempt stopped.

    What changes the state holds the vault's `changing`; what waits for a pin does not.
    """

    def __init__(
        self,
        vault: AsyncVault,
        store: VaultStore,
        hosts: SnapshotHosts,
        *,
        on_progress: Callable[[SnapshotState], object] | None = None,
    ) -> None:
        self._vault, self._store, self._hosts = vault, store, hosts
        self._turn, self._on_progress = vault.changing, on_progress
        # Cached until the vault changes: each use of the vault keeps it from locking itself, and retries are no use.
        self._known: Publishing | None = None
        self._is_verified = False

    def changed(self) -> None:
        """Discard the cached name and delegation, because the vault, perhaps another one, was opened or changed."""
        self._known, self._is_verified = None, False

    async def state(self) -> SnapshotState:
        """Return the current state: queued after a change. Raises ClientStateError without a vault, StorageError."""
        did, service = await self._did(), self._hosts.service
        state = await asyncio.to_thread(read_state, self._store, did)
        if state.service != service:  # which may lack what another one has acknowledged
            state = msgspec.structs.replace(state, service=service, acknowledged_revision=0, sent_revision=0)
        stored = await asyncio.to_thread(self._store.load, did) if state.status == "pinned" else None
        return msgspec.structs.replace(state, status="queued") if stored and is_due(stored, state) else state

    async def publish(self) -> SnapshotState:
        """Publish the newest revision, unless it has already been published.

        Raises:
            SnapshotConflict: another device published too; `overrule` resolves the conflict.
            RequestRefused, NetworkError, StorageError: the upload was refused or failed; the message says why.
        """
        if (await self._vault.status()).locked:
            raise ClientStateError("the vault is locked: its snapshot is uploaded once it is open")
        publishing = await self._publishing()
        try:
            return await self._publish(publishing)
        except ServiceError as error:
            met = {"status": "failed", "reason": _reason_of(error)}
            if isinstance(error, SnapshotConflict):
                met |= {"status": "conflict", "other_root": error.other_root}
            async with self._turn:
                await self._note(await self.state(), **met)
            raise

    async def overrule(self) -> SnapshotState:
        """After a conflict, publish this device's version on top of the other device's, which stays pinned."""
        async with self._turn:
            state = await self.state()
            if state.other_root is None:
                raise ClientStateError("there is no conflict to resolve")
            theirs = state.other_root
            await self._note(state, status="queued", acknowledged_root=theirs, acknowledged_revision=0, other_root=None)
        return await self.publish()

    async def _publishing(self) -> Publishing:
        """Return name and delegation. A vault from before publishing keys existed gets a key, in a new revision."""
        if self._known is None:
            name = (await self._vault.publishing_key()).name
            delegation = bytes((await self._vault.publishing_delegation()).signed_dag_cbor)
            self._known = Publishing(name, delegation)
        return self._known

    async def _publish(self, publishing: Publishing) -> SnapshotState:
        async with self._turn:
            stored, state = await self._newest(), await self.state()
            if not is_due(stored, state):
                state = await self._verified(publishing, state)
            if not is_due(stored, state):
                return state
            state = await self._note(state, status="queued", revision=stored.revision, reason=None)
            state = await self._compare(publishing, state, await self._hosts.gateway.record(publishing.name))
            stored = await self._newest()
            if not is_due(stored, state):
                return state
            taken = await snapshot_after(state.acknowledged_root, stored, publishing.delegation)
            state = await self._note(state, status="pinning", root_cid=taken.root_cid)
            pinned = await pin_requested(self._hosts, taken, PIN_NAME, meta_of(state.did))
        await pinned()
        async with self._turn:
            if await self.state() == state:
                return await self._named(publishing, taken, stored, state)
        return await self.publish()  # another flow has changed the state meanwhile

    async def _verified(self, publishing: Publishing, state: SnapshotState) -> SnapshotState:
        """Return the state after the service was asked once what it still has: less, after a restored backup."""
        if self._is_verified or state.acknowledged_root is None:
            return state
        answers = await self._hosts.gateway.answers(publishing.name)
        if not answers.has_main:
            return state  # it does not say
        self._is_verified, record = True, answers.newest
        is_newest = record is not None and record.sequence >= state.sequence  # the one seen last, or another device's
        if is_newest and answers.at_main:
            return state
        root = state.acknowledged_root if is_newest else record.root_cid if record else None
        return await self._note(state, status="queued", acknowledged_root=root, acknowledged_revision=0)

    async def _compare(self, publishing: Publishing, state: SnapshotState, record: Record | None) -> SnapshotState:
        """Compare the published record with this device's state. Raises SnapshotConflict.

        One older than this device has seen, as after a restored backup, is replaced: the next sequence follows both.
        """
        if record is None or record.sequence < state.sequence:
            return state
        if record.root_cid == state.sent_root:
            # The service stored the record that this device sent last, but the response was lost.
            return await self._acknowledged(publishing, state, record.sequence, record.data)
        if record.root_cid != state.acknowledged_root:
            await self._conflict(state, record)
        await asyncio.to_thread(keep_record, self._store, state.did, record.data)
        return await self._note(state, sequence=record.sequence)

    async def _named(
        self, publishing: Publishing, taken: Snapshot, stored: StoredVault, state: SnapshotState
    ) -> SnapshotState:
        sequence = state.sequence + 1
        record = await signed_record(self._vault, taken.root_cid, sequence)
        state = await self._note(state, sent_root=taken.root_cid, sent_revision=stored.revision)
        try:
            await self._hosts.publish(publishing.name, record)
        except RequestRefused as error:
            found = await self._hosts.gateway.record(publishing.name) if error.status == _CONFLICT else None
            # Another device published after this device read the record and before it sent its own.
            if found is not None and found.sequence >= sequence and found.root_cid != taken.root_cid:
                await self._conflict(state, found)
            raise
        state = await self._acknowledged(publishing, state, sequence, record)
        await self._remove_old_pins(state)
        return state

    async def _conflict(self, state: SnapshotState, record: Record) -> NoReturn:
        """Store the other device's snapshot while it is available, and raise SnapshotConflict."""
        await self._hosts.gateway.snapshot(record.root_cid)
        await self._note(state, sequence=record.sequence)
        raise SnapshotConflict(record.root_cid)

    async def _acknowledged(
        self, publishing: Publishing, state: SnapshotState, sequence: int, record: bytes
    ) -> SnapshotState:
        self._is_verified = True
        await asyncio.to_thread(keep_record, self._store, state.did, record)
        stored = await asyncio.to_thread(self._store.load, state.did)
        # Record the root in the manifest, unless the vault was changed or imported meanwhile, perhaps at this revision.
        before, delegation = state.acknowledged_root, publishing.delegation
        if stored and (await snapshot_after(before, stored, delegation)).root_cid == state.sent_root:
            named = msgspec.structs.replace(stored.manifest, root_cid=state.sent_root)
            await asyncio.to_thread(self._store.update_manifest, named, stored.sealed)
        return await self._note(
            state,
            status="pinned",
            root_cid=state.sent_root,
            reason=None,
            acknowledged_root=state.sent_root,
            acknowledged_revision=state.sent_revision,
            sequence=sequence,
            other_root=None,
            sent_root=None,
        )

    async def _remove_old_pins(self, state: SnapshotState) -> None:
        """Remove this vault's oldest pins, made by any device, or all but the newest if a key has been removed.

        If the service refuses, the next upload tries again.
        """
        pinning = self._hosts.pinning
        if pinning is None:
            return
        note = forgotten_note(state.did)
        forgotten = await asyncio.to_thread(self._store.note, note)
        retained = 0 if forgotten is not None else max(self._hosts.config.pinned - 1, 0)  # in addition to the newest
        with contextlib.suppress(ServiceError):
            found = await pinning.list(meta=meta_of(state.did), limit=_LISTED)
            for pin in [it for it in found if _is_older(it.pin, state)][retained:]:
                await pinning.delete(pin.request_id)
            if forgotten is not None and state.acknowledged_revision >= int(forgotten):
                # A key that was removed meanwhile counts at the next upload.
                await asyncio.to_thread(self._store.replace_note, note, forgotten, None)

    async def _note(self, state: SnapshotState, **changes: Any) -> SnapshotState:
        state = msgspec.structs.replace(state, **changes)
        await asyncio.to_thread(write_state, self._store, state)
        await answered(self._on_progress, state)
        return state

    async def _newest(self) -> StoredVault:
        stored = await asyncio.to_thread(self._store.load, await self._did())
        if stored is None:
            raise ClientStateError("no vault is stored here")
        return stored

    async def _did(self) -> str:
        did = (await self._vault.status()).did
        if did is None:
            raise ClientStateError("there is no vault")
        return did


def _reason_of(error: ServiceError) -> str:
    """Return the service's own reason for an error if the service sent one, otherwise the error's message."""
    if isinstance(error, RequestRefused) and error.details is not None:
        return f"{error.code}: {error.details}"
    return str(error)


async def snapshot_after(root_cid: str | None, stored: StoredVault, delegation: bytes) -> Snapshot:
    """Return the snapshot of a stored vault that follows the snapshot `root_cid`."""
    manifest = msgspec.structs.replace(stored.manifest, root_cid=root_cid)
    return await asyncio.to_thread(snapshots.take, manifest, stored.sealed, delegation)


async def signed_record(vault: AsyncVault, root_cid: str, sequence: int) -> bytes:
    """Return the record that publishes a snapshot under the vault's name."""
    until = datetime.now(UTC) + VALIDITY
    return bytes((await vault.publish(root_cid, sequence, until, TTL_NS)).record)


def _is_older(pin: PinRequest, state: SnapshotState) -> bool:
    """Return whether this vault has published another snapshot after a pin's; services may ignore the filter."""
    return pin.cid != state.acknowledged_root and meta_of(state.did).items() <= (pin.meta or {}).items()


def meta_of(did: str) -> dict[str, str]:
    """Return the pin metadata that distinguishes this vault's pins from others of the same account."""
    return {"vault": did}
