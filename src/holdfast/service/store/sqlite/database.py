"""The embedded database, one SQLite file, as used by commands and at startup."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import admin
from holdfast.service.store.sqlite.schema import chain_of, connect
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.service.store.sqlite.write_check import try_write
from holdfast.wire.file_errors import file_words
from holdfast.wire.sqlite_errors import error_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.service.store.findings import Finding
    from holdfast.service.store.port import Store

PREFIX = "sqlite:///"


class SqliteDatabase:
    """Implements Database for `sqlite:///` followed by the path of a file. With a fourth slash the path is absolute."""

    def __init__(self, url: str) -> None:
        """Raises ValueError for a URL of another form."""
        path = url.removeprefix(PREFIX)
        if not url.startswith(PREFIX) or not path:
            raise ValueError(f"{PREFIX} and a path is needed")
        self._file = Path(path)
        if os.path.isdir(path):  # noqa: PTH112 - no error for a folder that this user may not enter
            raise ValueError(f"{self._file} is a folder: {PREFIX} and the path of a file is needed")

    @property
    def location(self) -> str:
        """See Database."""
        return str(self._file)

    @property
    def files(self) -> tuple[Path, ...]:
        """See Database."""
        return (self._file,)

    def exists(self) -> bool:
        """See Database."""
        try:
            return self._file.is_file()
        except OSError as error:
            raise StoreUnavailable(f"{self._file}: {file_words(error)}; call this as the service's user") from error

    def open(self, chain: int | None = None) -> Store:
        """See Database."""
        return SqliteStore(self._file, chain)

    def chain(self) -> int | None:
        """See Database."""
        with self._readable(), closing(connect(self._file)) as connection:
            return chain_of(connection)

    def try_write(self) -> None:
        """See Database."""
        try_write(self._file)

    def findings(self, workers: int) -> list[Finding]:  # noqa: ARG002 - see Database
        """See Database. There are no findings, because the store sets all relevant options itself."""
        return []

    def backup(self, target: Path) -> None:
        """See Database."""
        with self._readable():
            admin.backup_to(self._file, target)

    def restore(self, backup: Path) -> None:
        """See Database."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._readable():
            admin.restore_from(backup, self._file)

    def rows(self) -> Iterator[dict[str, object]]:
        """See Database."""
        with self._readable():
            yield from admin.every_row(self._file)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(error_words(error, self._file)) from error
