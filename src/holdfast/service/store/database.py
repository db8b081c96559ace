"""The database that a URL names, for commands and for the start; requests use its store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.service.store.port import Store


class SchemaTooNew(Exception):
    """The database was written by a newer Holdfast."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the database has schema {found}, this Holdfast knows {known}: install the newer release again"
        )


class NotABackup(Exception):
    """The file is not an intact copy of a Holdfast database."""


class InUse(Exception):
    """Another process has the database open."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One of the database's own settings that decides whether what was answered is kept.

    Attributes:
        subject: what.
        state: ok; note (works, but see the fix); error (must be fixed).
        found: what was seen.
        fix: what to do, empty when there is nothing to do.
    """

    subject: str
    state: Literal["ok", "note", "error"]
    found: str
    fix: str = ""


class Database(Protocol):
    """One kind of database; `kinds.KINDS` lists the kinds.

    Every method raises StoreUnavailable if the database cannot be reached.
    """

    @property
    def place(self) -> str:
        """Where the database is, for messages: without a password."""
        ...

    @property
    def files(self) -> tuple[Path, ...]:
        """The files on this machine that only the service's user may read; none for a database server."""
        ...

    def exists(self) -> bool:
        """Return whether the database exists already."""
        ...

    def open(self) -> Store:
        """Open the store, created and migrated to this release's schema if necessary.

        Raises SchemaTooNew; StoreUnreachable, which is a StoreUnavailable, if a later call may succeed.
        """
        ...

    def try_write(self) -> None:
        """Write something that reaches the disk, and remove it. Raises StoreUnavailable if that fails."""
        ...

    def concerns(self, workers: int) -> list[Concern]:
        """What an operator should know of the database's own settings; empty where it has none to choose.

        `workers`: processes of this node, for the connections that they use.
        """
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy while the service runs. The file appears whole or not at all. Raises OSError."""
        ...

    def restore(self, backup: Path) -> None:
        """Replace the database with a copy. Raises NotABackup, SchemaTooNew, InUse, OSError."""
        ...

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return every row of every table at one moment; its table under `table`, blobs as hex."""
        ...
