"""The contract suite runs on every kind of database; HOLDFAST_DATABASE_URL restricts it to one of that kind.

Where that names a PostgreSQL server, databases are created on it; without it a server is started for the session.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.support.postgres_server import PostgresServer, running

from holdfast.service.store.kinds import KINDS, database_of, default_url
from holdfast.service.store.postgresql.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; each worker of a parallel run has one."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_database(postgres: PostgresServer) -> str:
    """The URL of a database that the tests of a session share, each of which finds it empty."""
    return postgres.new_database()


@pytest.fixture
def postgres_url(postgres: PostgresServer, postgres_database: str) -> str:
    """The URL of an empty PostgreSQL database, with its schema unless this is the first test."""
    name = postgres_database.rpartition("/")[2]
    if postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'holdfast'", name):
        postgres.execute(f"TRUNCATE {', '.join(f'holdfast.{table}' for table in TABLES)}", name)
    return postgres_database


@pytest.fixture
def fresh_postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a new PostgreSQL database, without a schema."""
    url = postgres.new_database()
    yield url
    postgres.drop_database(url)


@pytest.fixture(params=sorted(KINDS))
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database of each kind."""
    only = os.environ.get("HOLDFAST_DATABASE_URL", "").partition(":")[0]
    if only and request.param != only:
        pytest.skip(f"HOLDFAST_DATABASE_URL restricts the suite to {only}")
    empty = {"sqlite": lambda: default_url(tmp_path), "postgresql": lambda: request.getfixturevalue("postgres_url")}
    assert empty.keys() == KINDS.keys(), "every kind of store is held to the contract"
    return database_of(empty[request.param]())


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    """Its store."""
    opened = database.open()
    yield opened
    await opened.close()
