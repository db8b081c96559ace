"""Transfers a vault's last published record when pairing, so that the new device's first upload causes no conflict."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from holdfast.client.snapshots.state import SnapshotState, keep_record, record_name, write_state
from holdfast.content.errors import ContentError
from holdfast.content.records import MAX_RECORD_BYTES, Record, read_record

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.async_vault import AsyncVault


async def published_record(vault: AsyncVault) -> str | None:
    """Return the IPNS record of the vault's last acknowledged snapshot in hexadecimal, or None if none exists.

    Raises StorageError.
    """
    did = (await vault.status()).did
    if vault.store is None or did is None:
        return None
    return await asyncio.to_thread(vault.store.note, record_name(did))


async def continue_from(vault: AsyncVault, record: object) -> None:
    """Store the record received with a vault as that of the last snapshot that this device knows. Raises StorageError.

    A record not signed by the vault's own publishing key is ignored; the first upload then reports a conflict.

    Args:
        vault: the received vault, unlocked.
        record: what the other device sent, in hexadecimal.
    """
    did = (await vault.status()).did
    known = _verified((await vault.publishing_key()).name, record)
    if vault.store is not None and did is not None and known is not None:
        async with vault.changing:
            await asyncio.to_thread(_keep, vault.store, did, known)


def _keep(store: VaultStore, did: str, record: Record) -> None:
    keep_record(store, did, record.data)
    write_state(store, SnapshotState(did=did, acknowledged_root=record.root_cid, sequence=record.sequence))


def _verified(name: str, record: object) -> Record | None:
    if not isinstance(record, str) or len(record) > 2 * MAX_RECORD_BYTES:
        return None
    try:
        return read_record(name, bytes.fromhex(record))
    except (ContentError, ValueError):
        return None
