"""Operators' commands on the embedded store's file: back up, restore, export, and describe an identifier."""

from __future__ import annotations

import glob
import os
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.service.store.database import InUse, NotABackup, SchemaTooNew
from holdfast.service.store.history import IN_ONE_MOMENT
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite.hashes import unpack_hash
from holdfast.service.store.sqlite.migrations import SCHEMA_VERSION, TABLES
from holdfast.service.store.sqlite.schema import schema_version
from holdfast.wire.sqlite_errors import error_words, is_in_use

if TYPE_CHECKING:
    from collections.abc import Iterator


_PARTIAL = ".partial"
_LEFT_S = 3600.0  # a copy writes all the time

# The history is ordered by time, and simultaneous events are in the order of an identifier's life cycle.
IN_ORDER = f"at, instr('{' '.join(IN_ONE_MOMENT)}', action)"
_HISTORY = f"SELECT at, action, did, operator FROM history WHERE channel = ? AND key = ? ORDER BY {IN_ORDER}"  # noqa: S608 - our own names


def backup_to(source: Path, target: Path) -> None:
    """Write a consistent copy of a live database, readable only by its owner.

    The copy appears complete or not at all.
    """
    _sweep(target)
    opened, name = tempfile.mkstemp(_PARTIAL, f"{target.name}.", target.parent)  # its own: two backups may run at once
    os.close(opened)
    partial = Path(name)
    try:
        _copy(source, partial)
        _sync(partial)
        partial.replace(target)
    except sqlite3.Error as error:
        raise StoreUnavailable(error_words(error, source, target)) from error  # before what was copied makes room
    finally:
        partial.unlink(missing_ok=True)
    _sync(target.parent)


def _sweep(target: Path) -> None:
    """Remove what killed backups to this file left behind."""
    for left in target.parent.glob(f"{glob.escape(target.name)}.*{_PARTIAL}"):
        with suppress(FileNotFoundError):  # its backup has just ended
            if time.time() - left.stat().st_mtime > _LEFT_S:
                left.unlink()


def restore_from(backup: Path, target: Path) -> None:
    """Replace a stopped service's database with a copy.

    Raises:
        NotABackup: the copy is damaged or is not a Holdfast database.
        SchemaTooNew: a newer Holdfast wrote it.
        InUse: a service has the database open.
    """
    check_backup(backup)
    _take_for_oneself(target)
    partial = target.with_name(target.name + ".partial")
    backup_to(backup, partial)
    try:
        _take_for_oneself(target)  # again, because a service may have started meanwhile
    except BaseException:
        partial.unlink()
        raise
    for companion in ("-wal", "-shm"):
        target.with_name(target.name + companion).unlink(missing_ok=True)
    partial.replace(target)
    _sync(target.parent)


def check_backup(file: Path) -> int:
    """Return the schema version of a copy, if the copy is intact. Raises NotABackup or SchemaTooNew."""
    if not file.is_file():
        raise NotABackup("no such file")
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
        version = schema_version(connection)
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        raise NotABackup(str(error)) from error
    finally:
        connection.close()
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(version, SCHEMA_VERSION)
    if verdict != "ok" or version == 0 or not tables >= set(TABLES):
        raise NotABackup("damaged, or not a Holdfast database")
    return version


def _copy(source: Path, copy: Path) -> None:
    with closing(_reading(source)) as reader, closing(sqlite3.connect(copy)) as writer:
        reader.execute("BEGIN")
        schema_version(reader)  # one state: otherwise each write of the service would begin the copy anew
        reader.backup(writer, pages=1024)
        writer.execute("PRAGMA journal_mode = DELETE")  # a single file, without -wal and -shm


def _reading(file: Path) -> sqlite3.Connection:
    """Open a connection that reads even where the disk is full.

    A stopped service's database has no -shm file, for which a full disk has no room. A connection that locks the file
    for itself needs none.
    """
    for mode in ("NORMAL", "EXCLUSIVE"):
        connection = sqlite3.connect(file, isolation_level=None)
        try:
            connection.execute(f"PRAGMA locking_mode = {mode}")
            schema_version(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if mode == "EXCLUSIVE" or error.sqlite_errorcode != sqlite3.SQLITE_IOERR_SHMSIZE:
                raise
        else:
            return connection
    raise AssertionError  # the second mode returned or raised


def every_row(file: Path) -> Iterator[dict[str, object]]:
    """Yield every row of every table as of one moment, blobs as hex; `audit` includes the events that rows imply."""
    connection = _reading(file)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("BEGIN")
        for table in TABLES:
            source = f"history ORDER BY {IN_ORDER}" if table == "audit" else table
            for row in connection.execute(f"SELECT * FROM {source}"):  # noqa: S608 - our own names
                yield {"table": table, **plain_row(dict(row))}
    finally:
        connection.close()


def describe_identifier(connection: sqlite3.Connection, channel: str, key: str) -> dict[str, object] | None:
    """Return an identifier's claim, credentials, verification and history; None if nothing is known about it."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row

    def rows(statement: str) -> list[dict[str, object]]:
        return [plain_row(dict(row)) for row in cursor.execute(statement, (channel, key))]

    claims = rows(
        "SELECT channel, key, given, did, stage, created_at, registered_at, signed"
        " FROM identifiers WHERE channel = ? AND key = ?"
    )
    found: dict[str, object] = {
        "claim": claims[0] if claims else None,
        "credentials": rows(
            "SELECT credential, tx_hash, block_number, smart_account, created_at, confirmation, settled_at, signed"
            " FROM credentials WHERE identifier_id = (SELECT id FROM identifiers WHERE channel = ? AND key = ?)"
            " ORDER BY created_at, credential"
        ),
        "verifications": rows("SELECT verified_at FROM verifications WHERE channel = ? AND key = ?"),
        "history": rows(_HISTORY),
    }
    return found if any(found.values()) else None


def _take_for_oneself(file: Path) -> None:
    if not file.exists():
        return
    connection = sqlite3.connect(file, timeout=0.2, isolation_level=None)
    try:
        # Leaving WAL mode fails if the file has any other connection, even an idle one.
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if not is_in_use(error):
            raise
        raise InUse(str(error)) from error
    except sqlite3.DatabaseError:
        pass  # damaged, so no process works with it, and a restore repairs it
    finally:
        connection.close()


def plain_row(row: dict[str, object]) -> dict[str, object]:
    """Return a row for people to read: hashes and identifiers as they were sent, other blobs as hex."""
    if isinstance(tx_hash := row.get("tx_hash"), str | bytes):
        row["tx_hash"] = unpack_hash(tx_hash)
    if row.get("given") == "":
        row["given"] = row["key"]
    if "signed" in row:
        row["signed"] = bool(row["signed"])
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()}


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
