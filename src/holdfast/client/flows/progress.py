"""The progress of a registration, recorded before each step so that it survives an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.client.storage.memory_notes import MemoryNotes
from holdfast.client.types import Attestation, Record

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import VaultStore


class Progress(Record, frozen=True, kw_only=True):
    """The recorded progress of one registration. It contains no secret."""

    identifier: str
    channel: str
    session_asked: bool = False
    attestation: Attestation | None = None
    commitment_operation: str | None = None
    operation_hash: str | None = None
    tx_hash: str | None = None
    block_number: int | None = None
    smart_account: str | None = None


class ProgressStore:
    """The progress of one registration, in the vault's store or, without a store, in memory."""

    def __init__(self, store: VaultStore | None, did: str, identifier: str, channel: str) -> None:
        self._store, self._name = store or MemoryNotes(), f"registration:{did}"
        text = self._store.note(self._name)
        fresh = Progress(identifier=identifier, channel=channel)
        self.progress = _going_on(Progress.from_json(text), fresh) if text else fresh

    def note(self, **changes: object) -> None:
        """Store the changed fields."""
        self.progress = msgspec.structs.replace(self.progress, **changes)
        self._store.set_note(self._name, msgspec.json.encode(self.progress.to_json()).decode())

    def forget(self) -> None:
        """Delete the recorded progress."""
        self._store.set_note(self._name, None)


def _going_on(noted: Progress, requested: Progress) -> Progress:
    """Return the parts of the recorded progress that are valid for the current request.

    Progress recorded for a different identifier is dropped, except for the transaction that registered the DID without
    an alias.
    """
    if (noted.identifier, noted.channel) == (requested.identifier, requested.channel):
        return noted
    if "handle" in {noted.channel, requested.channel}:
        return requested
    return msgspec.structs.replace(
        requested,
        operation_hash=noted.operation_hash,
        tx_hash=noted.tx_hash,
        block_number=noted.block_number,
        smart_account=noted.smart_account,
    )
