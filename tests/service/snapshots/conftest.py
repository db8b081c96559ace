"""A service that stores snapshots, and a vault that is registered with the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.kept_snapshots import Vault, registered

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.api import Api


@pytest.fixture
async def keeper(make_api: Callable[..., Api]) -> Api:
    """A service with default settings, but without a minimum of free disk space: test machines may be nearly full."""
    return make_api(snapshots_free_bytes="0")


@pytest.fixture
async def vault(keeper: Api) -> Vault:
    """A registered vault."""
    return await registered(keeper)
