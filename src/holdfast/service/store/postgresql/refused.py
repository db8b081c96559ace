"""Databases on which no service may run: on another engine than PostgreSQL, or half filled by a move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.store.port import StoreUnavailable

if TYPE_CHECKING:
    import asyncpg

_IS_MOVING = (
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'holdfast' AND c.relname = 'moving')"
)


class RefusedDatabase(StoreUnavailable):
    """No service may run on this database."""


def engine_of(version: str) -> str | None:
    """Return the name of another engine, which has this version; None for PostgreSQL itself, and for Citus."""
    if version.startswith("CockroachDB"):
        return "CockroachDB"
    return "YugabyteDB" if "-YB-" in version else None


async def refuse_other_engines(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Raise RefusedDatabase for an engine that speaks PostgreSQL's protocol, where the store may lose counts."""
    engine = engine_of(await connection.fetchval("SELECT version()"))
    if engine is not None:
        raise RefusedDatabase(f"the database runs on {engine}, where Holdfast was never tried: use PostgreSQL itself")


async def refuse_unfinished_move(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Raise RefusedDatabase for the target of an unfinished move, whose last pass would delete what is stored here."""
    if not await connection.fetchval(_IS_MOVING):
        return
    if await connection.fetchval("SELECT finished FROM holdfast.moving") is False:
        raise RefusedDatabase("the database is the target of an unfinished move: call holdfast migrate --to again")
