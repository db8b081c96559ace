"""A service that stores snapshots, and a vault that is registered with the service."""

import pytest
from tests.support.snapshot_vaults import registered


@pytest.fixture
async def keeper(make_api):
    """A service with default settings, but without a minimum of free disk space: test machines may be nearly full."""
    return make_api(snapshots_free_bytes="0")


@pytest.fixture
async def vault(keeper):
    return await registered(keeper)
