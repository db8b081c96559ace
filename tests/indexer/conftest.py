import random

import pytest
from tests.support.fake_chain import FakeChain

from holdfast.indexer.sqlite_store import SqliteIndexStore


@pytest.fixture
def make_store(tmp_path):
    return lambda: SqliteIndexStore(tmp_path / "index.db")


@pytest.fixture
async def store(make_store):
    made = make_store()
    await made.open("test")
    yield made
    await made.close()


@pytest.fixture
def chain():
    return FakeChain(random.Random(5))


@pytest.fixture
def busy_chain(chain):
    for _ in range(60):
        chain.mine(4)
    return chain
