"""Notes as values: how they are read and written, and those of a client whose vault has no store."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import msgspec

from holdfast.client.types.base import decode_hook
from holdfast.wire.client_errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.client.storage.vault_store import VaultStore

T = TypeVar("T")


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


def read_note(notes: VaultStore | MemoryNotes, name: str, kind: type[T]) -> T | None:
    """Return the note, or None if it does not exist. Raises StorageError, also for one that is damaged."""
    text = notes.note(name)
    try:
        return None if text is None else msgspec.json.decode(text, type=kind, dec_hook=decode_hook)
    except msgspec.DecodeError as error:
        raise StorageError(f"the note {name} is damaged") from error


def write_note(notes: VaultStore | MemoryNotes, name: str, value: object) -> None:
    """Store the note; None deletes it. Raises StorageError."""
    notes.set_note(name, None if value is None else msgspec.json.encode(value).decode())
