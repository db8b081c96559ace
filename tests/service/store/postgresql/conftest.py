"""A PostgreSQL store over an empty database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.service.store.postgresql.database import PostgresqlDatabase

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from holdfast.service.store.port import Store


@pytest.fixture
async def pg_store(postgres_url: str) -> AsyncIterator[Store]:
    """The store of one node."""
    opened = PostgresqlDatabase(postgres_url).open()
    yield opened
    await opened.close()
