from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.fake_chain import FakeChain

from holdfast.indexer.sqlite_store import SqliteIndexStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from holdfast.indexer.store import IndexStore


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[[], IndexStore]:
    """Return a function that opens stores on the same, initially empty database."""
    return lambda: SqliteIndexStore(tmp_path / "index.db")


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
