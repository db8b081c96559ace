"""Functions of the database that restate rules."""

import asyncio

import asyncpg
import pytest

from holdfast.service.store.postgresql.database import PostgresqlDatabase


@pytest.fixture(scope="module")
def ask(postgres_database):
    """Return a function that calls a database function and returns the rows of the result."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(PostgresqlDatabase(postgres_database).open().close())
    connection = loop.run_until_complete(asyncpg.connect(postgres_database))

    def call(function, *values):
        numbers = ", ".join(f"${n}" for n in range(1, len(values) + 1))
        return loop.run_until_complete(connection.fetch(f"SELECT * FROM holdfast.{function}({numbers})", *values))

    yield call
    loop.run_until_complete(connection.close())
    loop.close()
