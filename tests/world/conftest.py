"""One world per hardfork for the whole run. Tests share it, so each uses fresh keys, and none takes the chain back:
a bundler does not survive that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.support.availability import why_no_chain
from tests.support.people import ERRORS, Person

from holdfast.chain.bundler import Bundler
from holdfast.chain.entry_points import ENTRY_POINTS, EntryPoint
from holdfast.world.anvil import CHAIN_ID, ChainOptions
from holdfast.world.local_world import LocalWorld, WorldOptions, open_world
from holdfast.world.software_key import SoftwareKey

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=["osaka", "prague"])
async def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalWorld]:
    logs: Path = tmp_path_factory.mktemp(f"world-{request.param}")
    options = WorldOptions(logs=logs, chain=ChainOptions(hardfork=request.param))
    if why := why_no_chain():
        pytest.skip(why)
    async with open_world(options, lambda _: None) as opened:
        yield opened


@pytest.fixture(params=ENTRY_POINTS, ids=lambda entry_point: f"v{entry_point.version}")
def entry_point(request: pytest.FixtureRequest) -> EntryPoint:
    return request.param


@pytest.fixture
def bundler(world: LocalWorld, entry_point: EntryPoint) -> Bundler:
    return Bundler(world.bundler_rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)


@pytest.fixture
def newcomer(world: LocalWorld, bundler: Bundler) -> Callable[..., Person]:
    return lambda salt=0: Person(world, bundler, SoftwareKey.generate(), salt)
