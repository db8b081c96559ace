"""The stores that must pass the contract suite. A new store joins by one more entry here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from holdfast.service.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from holdfast.service.store.port import Store

STORES = {"sqlite": lambda folder: SqliteStore(folder / "store.db")}


@pytest.fixture(params=sorted(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = STORES[request.param](tmp_path)
    yield made
    await made.close()
