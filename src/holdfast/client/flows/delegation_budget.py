"""Records how much has been spent under each delegation, and which invocations have been used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.client.storage.notes import MemoryNotes, read_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.client.storage.vault_store import VaultStore

_USED = "used"


class DelegationBudget:
    """The amounts spent per delegation and token, in the vault's store if it has one, or else in memory. Thread-safe.

    Delegations and invocations are identified by their canonical CIDs (`UcanClaims.path`), so a UCAN whose ECDSA
    signature was changed to its other valid form counts towards the same sum.
    """

    def __init__(self, store: VaultStore | None) -> None:
        self._notes = store or MemoryNotes()

    def spent(self, cids: Iterable[str], token: str) -> dict[str, int]:
        """Return the amount spent under each delegation, in the token's smallest unit."""
        return {cid: read_note(self._notes, _entry(cid, token), int) or 0 for cid in cids}

    def used(self, invocation: str) -> bool:
        """Return whether a payment has already used this invocation."""
        return self._notes.note(_entry(invocation, _USED)) is not None

    def charge(self, spent: Mapping[str, int], token: str, amount: int, once: str | None = None) -> bool:
        """Count a payment towards all its delegations before it is sent, unless their sums no longer equal `spent`.

        `amount` is in the token's smallest unit; `once` is the invocation that the payment consumes. Return whether it
        was counted. After a crash the sums may include a payment that was never sent, but never omit one that was.
        """
        changes: dict[str, tuple[str | None, str]] = {}
        for cid, before in spent.items():
            changes[_entry(cid, token)] = (str(before) if before else None, str(before + amount))
        if once is not None:
            changes[_entry(once, _USED)] = (None, "1")
        return self._notes.replace_notes(changes)


def _entry(cid: str, token: str) -> str:
    return f"spent:{cid}:{token}"
