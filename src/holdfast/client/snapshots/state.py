"""The state of a vault's snapshots, stored so that an interrupted upload can continue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from holdfast.client.storage.notes import read_note, write_note
from holdfast.client.types import Record

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import StoredVault, VaultStore

Status = Literal["queued", "pinning", "pinned", "failed", "conflict"]


class SnapshotState(Record, frozen=True, kw_only=True):
    """The progress of uploading a vault's newest revision, and the last snapshot that the servers acknowledged.

    Attributes:
        did: the vault's DID.
        status: queued, pinning, pinned, failed (will be retried), or conflict: another device published a
            snapshot that this one does not contain, and the person has to choose.
        revision: the vault revision that `status` is about; 0 before the first.
        root_cid: that revision's snapshot.
        reason: why it failed or conflicts, in the service's words.
        acknowledged_root: the last snapshot that was stored and published, with its `acknowledged_revision`.
        sequence: that of the last record seen or published.
        other_root: in a conflict, the other device's snapshot.
        sent_root: the root in a record that was sent and not acknowledged yet, with its `sent_revision`.
        service: the DID of the service to which the revisions were sent; None if not known.
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
    service: str | None = None


def pinned_state(did: str, root_cid: str, revision: int, sequence: int, service: str) -> SnapshotState:
    """Return the state once a service has acknowledged a snapshot."""
    known: dict[str, Any] = {"revision": revision, "root_cid": root_cid, "sequence": sequence, "service": service}
    return SnapshotState(did=did, status="pinned", acknowledged_root=root_cid, acknowledged_revision=revision, **known)


def is_due(stored: StoredVault, state: SnapshotState) -> bool:
    """Return whether a stored revision still has to be uploaded.

    An imported vault's always has: its revisions start again, and its manifest does not name the acknowledged snapshot.
    """
    return (stored.revision, stored.manifest.root_cid) != (state.acknowledged_revision, state.acknowledged_root)


def read_state(store: VaultStore, did: str) -> SnapshotState:
    """Return the stored state, or the initial one. Raises StorageError."""
    return read_note(store, _name(did), SnapshotState) or SnapshotState(did=did)


def write_state(store: VaultStore, state: SnapshotState) -> None:
    """Store a state. Raises StorageError."""
    write_note(store, _name(state.did), state)


def keep_record(store: VaultStore, did: str, record: bytes) -> None:
    """Store the IPNS record of the last acknowledged snapshot, in hexadecimal. Raises StorageError."""
    store.set_note(record_name(did), record.hex())


def record_name(did: str) -> str:
    """Return the name of the note with the IPNS record of the last acknowledged snapshot, which a pairing passes on."""
    return f"snapshot-record:{did}"


def _name(did: str) -> str:
    return f"snapshots:{did}"
