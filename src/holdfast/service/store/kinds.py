"""The kinds of databases: each URL scheme of HOLDFAST_DATABASE_URL with its module.

To add a kind of database, add a row.

A kind's module is imported only when a URL selects the kind, so that reading settings loads no database driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.service.store.database import Database


def _sqlite(url: str) -> Database:
    from holdfast.service.store.sqlite.database import SqliteDatabase

    return SqliteDatabase(url)


def _postgresql(url: str) -> Database:
    try:
        from holdfast.service.store.postgresql.database import PostgresqlDatabase
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        from holdfast.wire.installing import install_command  # only to say what is missing

        raise ValueError(f"PostgreSQL needs an extra: {install_command('postgres')}") from error
    return PostgresqlDatabase(url)


KINDS: Mapping[str, Callable[[str], Database]] = {"sqlite": _sqlite, "postgresql": _postgresql}

FILE_ADDRESSES = ("sqlite:///",)  # these URLs name a file and contain no password


def database_of(url: str) -> Database:
    """Return the database for a URL. Raises ValueError, without the URL, for an unknown form."""
    kind = KINDS.get(url.partition(":")[0])
    if kind is None:
        raise ValueError("an address that begins with one of these is needed: " + ", ".join(KINDS))
    return kind(url)
