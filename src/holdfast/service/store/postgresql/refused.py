"""Databases on which no service may run: on another engine than PostgreSQL, or half filled by a move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.service.store.postgresql.connection import Connection

_SERVER = "SELECT version() AS version, ARRAY(SELECT extname::text FROM pg_catalog.pg_extension) AS extensions"
_IS_MOVING = (
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'holdfast' AND c.relname = 'moving')"
)


class RefusedDatabase(StoreUnavailable):
    """No service may run on this database."""


def engine_of(version: str, extensions: Collection[str]) -> str | None:
    """Return the name of a distributed engine on which the store does not work; None for PostgreSQL itself.

    Args:
        version: what the server's `version()` returns.
        extensions: the names of the database's extensions.
    """
    if "citus" in extensions:
        return "Citus"
    if version.startswith("CockroachDB"):
        return "CockroachDB"
    return "YugabyteDB" if "-YB-" in version else None


async def refuse_other_engines(connection: Connection) -> None:
    """Raise RefusedDatabase for a distributed engine, on which the store would refuse requests or lose counts."""
    row = await connection.fetchrow(_SERVER)
    assert row is not None
    engine = engine_of(row["version"], row["extensions"])
    if engine is not None:
        raise RefusedDatabase(f"the database runs on {engine}, where Holdfast does not work: use PostgreSQL itself")


async def refuse_unfinished_move(connection: Connection) -> None:
    """Raise RefusedDatabase for the target of an unfinished move, whose last pass would delete what is stored here."""
    if not await connection.fetchval(_IS_MOVING):
        return
    if await connection.fetchval("SELECT finished FROM holdfast.moving") is False:
        raise RefusedDatabase("the database is the target of an unfinished move: call holdfast migrate --to again")
