"""The contract suite runs on the kind of database that HOLDFAST_DATABASE_URL names, and on SQLite without one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from holdfast.service.store.kinds import KINDS, database_of, default_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store

# Makes the address of an empty database of one kind, of the one that the environment names and the test's folder.
EMPTY: dict[str, Callable[[str, Path], str]] = {"sqlite": lambda _url, folder: default_url(folder)}


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """An empty database."""
    url = os.environ.get("HOLDFAST_DATABASE_URL") or default_url(tmp_path)
    kind = url.partition(":")[0]
    assert EMPTY.keys() == KINDS.keys(), "every kind of store is held to the contract"
    return database_of(EMPTY[kind](url, tmp_path))


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    """Its store."""
    opened = database.open()
    yield opened
    await opened.close()
