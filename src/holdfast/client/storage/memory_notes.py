"""The notes of a client whose vault has no store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class MemoryNotes:
    """Notes in memory, with the same methods as those of VaultStore. Thread-safe."""

    def __init__(self) -> None:
        self._notes: dict[str, str | None] = {}
        self._turn = threading.Lock()

    def note(self, name: str) -> str | None:
        """Return the text stored under a name, or None."""
        return self._notes.get(name)

    def set_note(self, name: str, value: str | None) -> None:
        """Store a text under a name; None deletes it."""
        self._notes[name] = value

    def replace_notes(self, changes: Mapping[str, tuple[str | None, str | None]]) -> bool:
        """Store texts if the current ones are as expected, by name: the expected text and the new one."""
        with self._turn:
            if any(self.note(name) != expected for name, (expected, _) in changes.items()):
                return False
            self._notes.update({name: value for name, (_, value) in changes.items()})
            return True
