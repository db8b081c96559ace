"""The contract suite runs on every kind of database; HOLDFAST_DATABASE_URL restricts it to one of that kind.

Where that names a PostgreSQL server, databases are created on it; without it a server is started for the session.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from holdfast.service.store.kinds import KINDS, database_of, default_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store


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
