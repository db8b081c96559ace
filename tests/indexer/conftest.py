from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import postgres
from tests.support.fake_chain import FakeChain

from holdfast.indexer.sqlite_store import SqliteIndexStore
from holdfast.settings.postgresql import parse_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from holdfast.indexer.store import IndexStore


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real server. Without PostgreSQL on the machine, these tests are skipped, and a reason is given."""
    bin_dir = postgres.binaries()
    if bin_dir is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql): the indexer's PostgreSQL store is NOT tested")
    with postgres.cluster(bin_dir) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], IndexStore]:
    """Return a function that opens stores on the same, initially empty database."""
    if request.param == "sqlite":
        return lambda: SqliteIndexStore(tmp_path / "index.db")
    made: Callable[[], IndexStore] = request.getfixturevalue("make_postgres_store")
    return made


@pytest.fixture
def make_postgres_store(postgres_url: str) -> Callable[..., IndexStore]:
    """Return a function that takes a URL suffix and opens a store on one initially empty PostgreSQL database."""
    from holdfast.indexer.postgres_store import PostgresIndexStore

    asyncio.run(_empty(postgres_url))
    return lambda more="": PostgresIndexStore(parse_address(postgres_url + more))


async def _empty(url: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(url)
    await connection.execute("DROP SCHEMA IF EXISTS holdfast_indexer CASCADE")
    await connection.close()


@pytest.fixture
async def store(make_store: Callable[[], IndexStore]) -> AsyncIterator[IndexStore]:
    made = make_store()
    await made.open("test")
    yield made
    await made.close()


@pytest.fixture
def chain() -> FakeChain:
    return FakeChain(random.Random(5))


@pytest.fixture
def busy_chain(chain: FakeChain) -> Any:
    """A fake chain of sixty blocks, with every kind of write."""
    for _ in range(60):
        chain.mine(4)
    return chain
