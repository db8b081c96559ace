"""Tests for all stores run with every kind of database; HOLDFAST_DATABASE_URL restricts them to that URL's kind.

With HOLDFAST_TEST_CITUS_URL, the URL of an empty database on the coordinator of a Citus cluster, they run there, too.

The test session starts a PostgreSQL server for these tests.
"""

import os

import pytest
from tests.support.databases import CITUS_URL

from holdfast.service.store.kinds import KINDS, database_of
from holdfast.settings.shared import default_url

PARTITIONED = "postgresql in partitions"
CITUS = "postgresql on citus"


# In the gate, postgresql/test_shards.py: every key begins with its shard, by which the tables can be split.
@pytest.fixture(
    params=[*sorted(KINDS), *([CITUS] if CITUS_URL else []), pytest.param(PARTITIONED, marks=pytest.mark.soak)]
)
def database(request, tmp_path, patient_stores):
    only = os.environ.get("HOLDFAST_DATABASE_URL", "").partition(":")[0]
    if only and not request.param.startswith(only):
        pytest.skip(f"HOLDFAST_DATABASE_URL restricts the suite to {only}")
    empty = {
        "sqlite": lambda: default_url(tmp_path),
        "postgresql": lambda: request.getfixturevalue("postgres_url"),
        PARTITIONED: lambda: request.getfixturevalue("partitioned_url"),
        CITUS: lambda: request.getfixturevalue("citus_url"),
    }
    assert empty.keys() == {*KINDS, PARTITIONED, CITUS}, "every kind of store passes the contract"
    return database_of(empty[request.param]())


@pytest.fixture
async def store(database):
    opened = database.open()
    yield opened
    await opened.close()
