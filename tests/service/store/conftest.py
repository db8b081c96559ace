"""Tests for all stores run with every kind of database; HOLDFAST_DATABASE_URL restricts them to that URL's kind.

The test session starts a PostgreSQL server for these tests.
"""

import os

import pytest

from holdfast.service.store.kinds import KINDS, database_of
from holdfast.settings.shared import default_url

PARTITIONED = "postgresql in partitions"


# In the gate, postgresql/test_shards.py: every key begins with its shard, by which the tables can be split.
@pytest.fixture(params=[*sorted(KINDS), pytest.param(PARTITIONED, marks=pytest.mark.soak)])
def database(request, tmp_path, patient_stores):
    """An empty database of each kind, including PostgreSQL with the tables partitioned by shard."""
    only = os.environ.get("HOLDFAST_DATABASE_URL", "").partition(":")[0]
    if only and not request.param.startswith(only):
        pytest.skip(f"HOLDFAST_DATABASE_URL restricts the suite to {only}")
    empty = {
        "sqlite": lambda: default_url(tmp_path),
        "postgresql": lambda: request.getfixturevalue("postgres_url"),
        PARTITIONED: lambda: request.getfixturevalue("partitioned_url"),
    }
    assert empty.keys() == {*KINDS, PARTITIONED}, "every kind of store passes the contract"
    return database_of(empty[request.param]())


@pytest.fixture
async def store(database):
    """The database's store."""
    opened = database.open()
    yield opened
    await opened.close()
