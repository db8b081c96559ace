"""Fixtures: one PostgreSQL server per test session, and empty databases on it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest
from tests.support.postgres_server import PostgresServer, running
from tests.support.serving import PATIENCE_S
from tests.support.shards import partition

from holdfast.service.store.port import Store
from holdfast.service.store.postgresql import batcher, connection, schema
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.database import PostgresqlDatabase, in_thread
from holdfast.service.store.postgresql.schema import TABLES
from holdfast.service.store.sqlite import writer

_MADE_PATIENT = f"""DO $$ DECLARE one regprocedure; BEGIN
    FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace AND 'lock_timeout=1s' = ANY (proconfig) LOOP
        EXECUTE format('ALTER FUNCTION %s SET lock_timeout = %L', one, '{PATIENCE_S:.0f}s');
    END LOOP;
END $$"""
CITUS_URL = os.environ.get("HOLDFAST_TEST_CITUS_URL")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server that no test may stop; each worker of a parallel run has its own."""
    with running() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server that a test may stop, kill and freeze."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_database(postgres: PostgresServer) -> str:
    """The URL of a database that all tests in a session share; `postgres_url` empties it for each test.

    Its functions wait for locks as long as `patient_stores` do: a limit in a function precedes a connection's.
    """
    url = postgres.new_database()
    in_thread(lambda: schema.migrate(parse_address(url)))
    name = url.rpartition("/")[2]
    postgres.execute(_MADE_PATIENT, name)
    return url


@pytest.fixture
def postgres_url(postgres: PostgresServer, postgres_database: str) -> str:
    """The URL of an empty PostgreSQL database, which already has the schema unless this is the first test."""
    empty(postgres, postgres_database)
    return postgres_database


@pytest.fixture(scope="session")
def partitioned_database(postgres: PostgresServer) -> str:
    """The URL of a shared database whose tables are in hash partitions."""
    url = postgres.new_database()
    partition(url)
    return url


@pytest.fixture
def partitioned_url(postgres: PostgresServer, partitioned_database: str) -> str:
    empty(postgres, partitioned_database)
    return partitioned_database


def empty(server: PostgresServer, url: str) -> None:
    """Delete all rows. Deleting a few rows is faster than truncating many partitions."""
    name = url.rpartition("/")[2]
    if server.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'holdfast'", name):
        gone = ", ".join(f"t{n} AS (DELETE FROM holdfast.{table})" for n, table in enumerate(TABLES))
        server.execute(f"WITH {gone} SELECT 1", name)


@pytest.fixture(scope="session")
def citus_database() -> str:
    """The URL of a database on the coordinator of a Citus cluster, which the tests of a session share and empty."""
    if CITUS_URL is None:
        pytest.skip("HOLDFAST_TEST_CITUS_URL does not name a database on the coordinator of a Citus cluster")
    url = CITUS_URL
    in_thread(lambda: made_patient_on_citus(url))
    return url


@pytest.fixture
def citus_url(citus_database: str) -> str:
    in_thread(lambda: empty_on_citus(citus_database))
    return citus_database


async def made_patient_on_citus(url: str) -> None:
    await schema.migrate(parse_address(url))
    connection = await asyncpg.connect(url)
    await connection.execute(_MADE_PATIENT)
    await connection.close()


async def empty_on_citus(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(
        "; ".join(f"DELETE FROM holdfast.{table}" for table in TABLES)
    )  # one commit on the workers
    await connection.close()


@pytest.fixture
def fresh_postgres_url(postgres: PostgresServer) -> Iterator[str]:
    url = postgres.new_database()
    yield url
    postgres.drop_database(url)


@pytest.fixture
def patient_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the stores' time limits to a minute, so that tests of anything else also pass on a busy machine."""
    monkeypatch.setattr(batcher, "WAIT_S", PATIENCE_S)
    monkeypatch.setattr(connection, "CONNECT_S", PATIENCE_S)
    monkeypatch.setattr(connection, "ANSWER_S", PATIENCE_S)
    monkeypatch.setattr(writer, "ANSWER_S", PATIENCE_S)
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    limits = dict.fromkeys(names, f"{PATIENCE_S:.0f}s")
    monkeypatch.setattr(connection, "SERVER_SETTINGS", {**connection.SERVER_SETTINGS, **limits})


@pytest.fixture
async def pg_store(postgres_url: str, patient_stores: None) -> AsyncIterator[Store]:
    opened = PostgresqlDatabase(postgres_url).open()
    yield opened
    await opened.close()
