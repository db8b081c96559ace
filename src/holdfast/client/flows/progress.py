"""How far a registration got, noted before each step: what must survive an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.types import Attestation, Record

if TYPE_CHECKING:
    from holdfast.client.storage.vault_store import VaultStore


class Progress(Record, frozen=True, kw_only=True):
    """The notes of one registration. `secret`: of the alias's commitment, in hex."""

    identifier: str
    channel: str
    session_asked: bool = False
    attestation: Attestation | None = None
    secret: str | None = None
    commitment_operation: str | None = None
    operation_hash: str | None = None
    tx_hash: str | None = None
    block_number: int | None = None
    smart_account: str | None = None


class Notes:
    """One registration's progress in the vault's store, or in memory without a store."""

    def __init__(self, store: VaultStore | None, did: str, identifier: str, channel: str) -> None:
        self._store, self._name = store, f"registration:{did}"
        text = (store.note(self._name) if store else None) or ""
        fresh = Progress(identifier=identifier, channel=channel)
        noted = Progress.from_json(text) if text else fresh
        # Notes about another identifier are dropped.
        self.progress = noted if (noted.identifier, noted.channel) == (identifier, channel) else fresh

    def note(self, **changes: Any) -> None:
        """Write the changed fields down."""
        self.progress = msgspec.structs.replace(self.progress, **changes)
        self._write(msgspec.json.encode(self.progress.to_json()).decode())

    def forget(self) -> None:
        """The registration is over."""
        self._write(None)

    def _write(self, text: str | None) -> None:
        if self._store:
            self._store.set_note(self._name, text)
