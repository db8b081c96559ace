"""The database at a URL, as used by commands and at startup; requests use its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.service.store.findings import Finding
    from holdfast.service.store.port import Store


class SchemaTooNew(Exception):
    """The database was written by a newer Holdfast."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"the database has schema {found}, this Holdfast knows {known}: install the newer release again"
        )


class OtherChain(Exception):
    """The database belongs to another chain: what is registered in it is not on this one."""

    def __init__(self, found: int, wanted: int) -> None:
        super().__init__(
            f"the database belongs to chain {found}: set HOLDFAST_CHAIN={found}, or serve chain {wanted} with an empty"
            " database (HOLDFAST_DATA_DIR or HOLDFAST_DATABASE_URL)"
        )


class NotABackup(Exception):
    """The file is not an intact copy of a Holdfast database."""


class InUse(Exception):
    """Another process has the database open."""


class Database(Protocol):
    """One kind of database; `kinds.KINDS` lists the kinds.

    Every method raises StoreUnavailable if the database cannot be reached.
    """

    @property
    def location(self) -> str:
        """Return the database's location for messages, without a password."""
        ...

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the database's files, which only the service's user may read; none for a database server."""
        ...

    def exists(self) -> bool:
        """Return whether the database already exists."""
        ...

    def open(self, chain: int | None = None) -> Store:
        """Open the store; create it, or migrate it to this release's schema, if necessary.

        With `chain`, the database belongs to that chain from now on, unless it belongs to one already.

        Raises OtherChain if it belongs to another one; SchemaTooNew; StoreUnreachable, which is a StoreUnavailable, if
        a later call may succeed.
        """
        ...

    def chain(self) -> int | None:
        """Return the ID of the chain that the open database belongs to; None if it belongs to none yet."""
        ...

    def try_write(self) -> None:
        """Check that the database accepts writes, by writing to the disk and then undoing the write.

        Raises StoreUnavailable if that fails.
        """
        ...

    def findings(self, workers: int) -> list[Finding]:
        """Return findings about the database server's settings; none for a database without such settings.

        `workers`: the number of processes on this node, which determines how many connections they use.
        """
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy, even of a live database. The copy appears complete or not at all. Raises OSError."""
        ...

    def restore(self, backup: Path) -> None:
        """Replace the database with a copy. Raises NotABackup, SchemaTooNew, InUse, OSError."""
        ...

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield every row of every table as of one moment, with the table's name under `table` and blobs as hex."""
        ...
