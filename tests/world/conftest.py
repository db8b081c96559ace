"""One local chain per hardfork, with a bundler and a sponsor, for the whole run.

Tests share the chain, so each test uses new keys, and none reverts blocks, which the bundler would not survive.
"""

from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from tests.support.availability import why_no_chain
from tests.support.people import ERRORS, Person

from holdfast.chain.bundler import Bundler
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.world.anvil import CHAIN_ID, ChainOptions
from holdfast.world.local_world import WorldOptions, open_world
from holdfast.world.software_key import SoftwareKey


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def worlds(tmp_path_factory):
    """Return a function that returns a hardfork's chain, which is started when first needed and runs until the end."""
    kept = {}
    async with AsyncExitStack() as opened:

        async def of(hardfork):
            if hardfork not in kept:
                logs = tmp_path_factory.mktemp(f"world-{hardfork}")
                options = WorldOptions(logs=logs, chain=ChainOptions(hardfork=hardfork))
                kept[hardfork] = await opened.enter_async_context(open_world(options, lambda _: None))
            return kept[hardfork]

        yield of


@pytest_asyncio.fixture(
    scope="session", loop_scope="session", params=["osaka", pytest.param("prague", marks=pytest.mark.soak)]
)
async def world(request, worlds):
    if why := why_no_chain():
        pytest.skip(why)
    return await worlds(request.param)


@pytest.fixture(params=ENTRY_POINTS, ids=lambda entry_point: f"v{entry_point.version}")
def entry_point(request):
    return request.param


@pytest.fixture
def bundler(world, entry_point):
    return Bundler(world.bundler_rpc, entry_point=entry_point.address, chain_id=CHAIN_ID, errors=ERRORS)


@pytest.fixture
def newcomer(world, bundler):
    return lambda salt=0: Person(world, bundler, SoftwareKey.generate(), salt)
