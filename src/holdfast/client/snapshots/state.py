"""How far a vault's snapshots are, kept in the store so that an interrupted upload goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from holdfast.client.types import Record
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import VaultStore

Status = Literal["queued", "pinning", "pinned", "failed", "conflict"]


class SnapshotState(Record, frozen=True, kw_only=True):
    """What happened to the newest revision, and what was acknowledged before.

    Attributes:
        did: the vault.
        status: queued, pinning, pinned, failed (it will be tried again), or conflict: another device published a
            snapshot that this one does not contain, and the person has to choose.
        revision: which revision of the vault it is about; 0 before the first.
        root_cid: the snapshot of that revision.
        reason: why it failed or conflicts, in the words of the service.
        acknowledged_root: the last snapshot that is kept and named, with its `acknowledged_revision`.
        sequence: of the last record that was seen or published.
        other_root: in a conflict, the other device's snapshot.
        sent_root: named by the last record that was sent, perhaps without an answer, with its `sent_revision`.
    """

    did: str
    status: Status = "queued"
    revision: int = 0
    root_cid: str | None = None
    reason: str | None = None
    acknowledged_root: str | None = None
    acknowledged_revision: int = 0
    sequence: int = 0
    other_root: str | None = None
    sent_root: str | None = None
    sent_revision: int = 0


def read_state(store: VaultStore, did: str) -> SnapshotState:
    """The kept state, or the first one. Raises StorageError."""
    text = store.note(_name(did))
    if text is None:
        return SnapshotState(did=did)
    try:
        return SnapshotState.from_json(msgspec.json.decode(text))
    except ValueError as error:
        raise StorageError("the state of the snapshots is damaged") from error


def write_state(store: VaultStore, state: SnapshotState) -> None:
    """Keep a state. Raises StorageError."""
    store.set_note(_name(state.did), msgspec.json.encode(state.to_json()).decode())


def kept_record(store: VaultStore, did: str) -> bytes | None:
    """The IPNS record of the last acknowledged snapshot; None before the first. Raises StorageError."""
    text = store.note(_record_name(did))
    return None if text is None else bytes.fromhex(text)


def keep_record(store: VaultStore, did: str, record: bytes) -> None:
    """Keep the IPNS record of the last acknowledged snapshot. Raises StorageError."""
    store.set_note(_record_name(did), record.hex())


def _name(did: str) -> str:
    return f"snapshots:{did}"


def _record_name(did: str) -> str:
    return f"snapshot-record:{did}"
