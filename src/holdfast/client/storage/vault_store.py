"""The store of this machine's vaults: an SQLite file with each vault's latest revisions and its snapshots' blocks."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
import platformdirs

from holdfast.client.storage.file_lock import FileLock
from holdfast.client.storage.snapshots import storage_errors
from holdfast.client.storage.vault_file import (
    empty_journal,
    file_errors,
    forget_blocks,
    forget_notes,
    forgotten_note,
    number_of,
    opened,
    opened_to_read,
)
from holdfast.client.types import VaultManifest, VaultStoreConfig
from holdfast.content.cids import Block, raw_block, verified
from holdfast.wire.client_errors import ClientStateError, StorageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

RETAINED_REVISIONS = 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class StoredVault:
    """One revision of one vault. Only the enclave can unlock `sealed`, and only with one of the vault's keys."""

    revision: int
    manifest: VaultManifest
    sealed: bytes


class VaultStore:
    """A store for vaults, identified by its folder and name. Only one process at a time can have the store open.

    Thread-safe.

    Args:
        config: the store's name, `holdfast-vault` unless given.
        directory: the folder of the file; by default the user's data folder.
        retained_revisions: how many revisions of each vault are retained.
        read_only: nothing is written, no lock either: for a file and a folder that nothing can change.

    Each method raises StorageError if the file system or the file fails, ClientStateError after `close`.
    A revision is stored completely or not at all: after a crash the previous revision is still readable.
    """

    def __init__(
        self,
        config: VaultStoreConfig | None = None,
        *,
        directory: Path | str | None = None,
        retained_revisions: int = RETAINED_REVISIONS,
        read_only: bool = False,
    ) -> None:
        self.path = store_path(config or VaultStoreConfig(), directory)
        self._retained = max(1, retained_revisions)
        self._database: sqlite3.Connection | None = None
        self._turn = threading.RLock()
        self._lock: FileLock | None = None
        if read_only:
            with file_errors(self.path):
                self._database = opened_to_read(self.path)
            return
        with file_errors(self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = self._lock = FileLock(self.path.with_suffix(".lock"))
        try:
            with file_errors(self.path):
                self._database = opened(self.path)
        except BaseException:
            lock.release()
            raise

    def save(self, manifest: VaultManifest, sealed: bytes, revision: int, *, forget_older: bool = False) -> StoredVault:
        """Store a revision.

        Raises StorageError if it is not newer than all stored ones: a vault never returns to an older state. With
        `forget_older`, the same transaction deletes all older revisions and the blocks of their snapshots, overwrites
        their bytes in the file, and removes them from its journal. A key is removed in this way, because otherwise it
        would still unlock an older revision.
        """
        with self._transaction() as database:
            newest = number_of(database.execute("SELECT max(revision) FROM revisions WHERE did = ?", (manifest.did,)))
            if revision <= newest:
                raise StorageError(f"revision {revision} is not newer than the stored {newest}")
            row = (manifest.did, revision, _encode(manifest), sealed)
            database.execute("INSERT INTO revisions VALUES (?, ?, ?, ?)", row)
            self._forget_old(database, manifest.did, 1 if forget_older else self._retained)
            if forget_older:
                forget_blocks(database, manifest.did)
                note = (forgotten_note(manifest.did), str(revision))
                database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", note)
        if forget_older:
            with self._reading() as database:
                empty_journal(database)
        return StoredVault(revision, manifest, sealed)

    def load(self, did: str | None = None, revision: int | None = None) -> StoredVault | None:
        """Return a revision of a vault, by default the newest. `did` may be left out if only one vault is stored.

        Raises StorageError if several vaults are stored and `did` is not given.
        """
        with self._reading() as database:
            chosen = did or self._only_did(database)
            found = database.execute(
                "SELECT revision, manifest, sealed FROM revisions WHERE did = ? AND ifnull(revision = ?, 1) "
                "ORDER BY revision DESC LIMIT 1",
                (chosen, revision),
            ).fetchone()
        return None if found is None else StoredVault(found[0], _decode(found[1]), bytes(found[2]))

    def dids(self) -> list[str]:
        """Return the DIDs of the stored vaults."""
        with self._reading() as database:
            return [row[0] for row in database.execute("SELECT DISTINCT did FROM revisions ORDER BY did")]

    def revisions(self, did: str) -> list[int]:
        """Return the stored revisions of a vault, newest first."""
        statement = "SELECT revision FROM revisions WHERE did = ? ORDER BY revision DESC"
        with self._reading() as database:
            return [row[0] for row in database.execute(statement, (did,))]

    def update_manifest(self, manifest: VaultManifest, sealed: bytes) -> bool:
        """Replace the newest revision's manifest, after a snapshot of `sealed` was made, and return whether it was.

        A vault that was changed or imported since keeps its manifest; an imported one may have the same revision.
        """
        statement = (
            "UPDATE revisions SET manifest = ?1 WHERE did = ?2 AND sealed = ?3 "
            "AND revision = (SELECT max(revision) FROM revisions WHERE did = ?2)"
        )
        with self._transaction() as database:
            return database.execute(statement, (_encode(manifest), manifest.did, sealed)).rowcount == 1

    def delete(self, did: str) -> None:
        """Delete a vault, its revisions, notes and snapshots' blocks, and overwrite their bytes in the file.

        What this device knows of the published snapshots remains (decision 0622).
        """
        with self._transaction() as database:
            database.execute("DELETE FROM revisions WHERE did = ?", (did,))
            forget_notes(database, did)
            forget_blocks(database, did)
        with self._reading() as database:
            empty_journal(database)

    def put_block(self, block: Block) -> None:
        """Store a block. Raises StorageError if it does not match its CID."""
        with storage_errors():
            verified(block.cid, block.data)
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?)", (block.cid, block.data))

    def get_block(self, cid: str) -> bytes | None:
        """Return a stored block after checking it against its CID, or None if it is not stored."""
        with self._reading() as database:
            row = database.execute("SELECT data FROM blocks WHERE cid = ?", (cid,)).fetchone()
        if row is None:
            return None
        with storage_errors():
            return verified(cid, bytes(row[0]))

    def try_block(self) -> None:
        """Test the store: write a block, read it back and delete it. Raises StorageError."""
        block = raw_block(os.urandom(32))
        self.put_block(block)
        try:
            if self.get_block(block.cid) is None:
                raise StorageError("the store did not keep a block")
        finally:
            with self._transaction() as database:
                database.execute("DELETE FROM blocks WHERE cid = ?", (block.cid,))

    def set_note(self, name: str, value: str | None) -> None:
        """Store a short text, such as a registration's progress, under a name. None deletes it."""
        with self._transaction() as database:
            if value is None:
                database.execute("DELETE FROM notes WHERE name = ?", (name,))
            else:
                database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def replace_note(self, name: str, expected: str | None, value: str | None) -> bool:
        """Store a text, or delete it, if the current one is `expected` (None: absent), as an atomic compare-and-swap.

        Return whether it was.
        """
        return self.replace_notes({name: (expected, value)})

    def replace_notes(self, changes: Mapping[str, tuple[str | None, str | None]]) -> bool:
        """Compare and swap several texts in one transaction.

        Return whether all current texts were as expected; if not, nothing is stored.

        Args:
            changes: by name, the expected text (None: absent) and the new one (None: it is deleted).
        """
        with self._transaction() as database:
            for name, (expected, _) in changes.items():
                row = database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
                if (row[0] if row else None) != expected:
                    return False
            database.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name in changes])
            rows = [(name, value) for name, (_, value) in changes.items() if value is not None]
            database.executemany("INSERT INTO notes VALUES (?, ?)", rows)
            return True

    def note(self, name: str) -> str | None:
        """Return the text stored under a name, or None."""
        with self._reading() as database:
            row = database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Close the file and release its lock, after a transaction of another thread. Repeated calls have no effect."""
        with self._turn:
            database, self._database = self._database, None
            if database is None:
                return
            with file_errors(self.path), contextlib.ExitStack() as stack:
                if self._lock is not None:
                    stack.callback(self._lock.release)
                database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _only_did(self, database: sqlite3.Connection) -> str:
        found = database.execute("SELECT DISTINCT did FROM revisions LIMIT 2").fetchall()
        if len(found) > 1:
            raise StorageError("several vaults are stored here: name one by its DID")
        return found[0][0] if found else ""

    @staticmethod
    def _forget_old(database: sqlite3.Connection, did: str, retained: int) -> None:
        oldest = "SELECT revision FROM revisions WHERE did = ?1 ORDER BY revision DESC LIMIT 1 OFFSET ?2"
        database.execute(f"DELETE FROM revisions WHERE did = ?1 AND revision <= ({oldest})", (did, retained))  # noqa: S608 - both parts are constants

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        # All threads share one connection. Without the lock, one thread's statements could run inside another thread's
        # transaction, or on a connection that another thread closes, which crashes the process.
        with self._turn, file_errors(self.path):
            if self._database is None:
                raise ClientStateError("the vault store is closed")
            yield self._database

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                if database.in_transaction:  # if the disk is full, SQLite has already rolled back
                    database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")


def store_path(config: VaultStoreConfig, directory: Path | str | None = None) -> Path:
    """Return the path of a store's file. Raises StorageError for a name that is not a plain file name."""
    if not _NAME.fullmatch(config.db_name):
        raise StorageError("a store's name has 1 to 64 letters, digits, dots, hyphens and underscores")
    folder = Path(directory) if directory else Path(platformdirs.user_data_dir("holdfast"))
    return folder / f"{config.db_name}.db"


def _encode(manifest: VaultManifest) -> str:
    return msgspec.json.encode(manifest.to_json()).decode()


def _decode(text: Any) -> VaultManifest:
    try:
        return VaultManifest.from_json(str(text))
    except ValueError as error:
        raise StorageError("a stored manifest is damaged") from error
