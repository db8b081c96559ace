"""Fixtures for two chains: a service on a local chain with the ID of Base, and one on the test network with both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.availability import why_no_chain
from tests.support.chain_service import ChainService, chain_service

BASE, TEST = 8453, 84532


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    """A service whose main chain is a local one with the ID of Base."""
    if why := why_no_chain():
        pytest.skip(why)
    with chain_service(tmp_path_factory.mktemp("base"), chain_id=BASE) as running:
        yield running


@pytest.fixture(scope="module")
def both(chain: ChainService, base: ChainService, tmp_path_factory: pytest.TempPathFactory) -> ChainService:
    """A service on the test network that serves the other chain too."""
    folder = tmp_path_factory.mktemp("both")
    file = folder / "chains.toml"
    file.write_text(base.row)
    return chain.another(folder / "data", chain.bundler_url, HOLDFAST_CHAIN_FILE=str(file))
