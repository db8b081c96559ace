"""What was spent under each delegation, and which invocations were used."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.client.storage.vault_store import VaultStore

_USED = "used"


class DelegationBudget:
    """Sums by delegation and token, kept in the vault's store, else in memory. Safe to use from several threads.

    Delegations and invocations go by their canonical CIDs (`UcanClaims.path`): another form of a token's signature does
    not begin another sum.
    """

    def __init__(self, store: VaultStore | None) -> None:
        self._store = store
        self._memory: dict[str, str] = {}
        self._turn = threading.Lock()

    def spent(self, cids: Iterable[str], token: str) -> dict[str, int]:
        """The sum under each delegation, in the token's smallest unit."""
        return {cid: int(self._text(_entry(cid, token)) or 0) for cid in cids}

    def used(self, invocation: str) -> bool:
        """Whether a payment was made with this invocation."""
        return self._text(_entry(invocation, _USED)) is not None

    def charge(self, spent: Mapping[str, int], token: str, amount: int, once: str | None = None) -> bool:
        """Count a payment under every delegation at once, before it is sent, if the sums are still `spent`.

        Args:
            spent: the sums that the payment was judged by, by delegation.
            token: what is paid with.
            amount: in the token's smallest unit.
            once: the invocation that is used up by it.

        Returns:
            Whether it was counted; where not, nothing has changed. A crash after this may cost budget; nothing
            exceeds it.
        """
        changes: dict[str, tuple[str | None, str]] = {}
        for cid, before in spent.items():
            name = _entry(cid, token)
            text = self._text(name)
            if int(text or 0) != before:
                return False
            changes[name] = (text, str(before + amount))
        if once is not None:
            changes[_entry(once, _USED)] = (None, "1")
        return self._replace(changes)

    def _replace(self, changes: Mapping[str, tuple[str | None, str]]) -> bool:
        if self._store:
            return self._store.replace_notes(changes)
        with self._turn:
            if any(self._memory.get(name) != expected for name, (expected, _) in changes.items()):
                return False
            self._memory.update({name: value for name, (_, value) in changes.items()})
            return True

    def _text(self, name: str) -> str | None:
        return self._store.note(name) if self._store else self._memory.get(name)


def _entry(cid: str, token: str) -> str:
    return f"spent:{cid}:{token}"
