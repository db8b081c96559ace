"""What holds for every test: chance finds new examples only where it is asked to, and no example is too slow."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from tests.support import trusted_certificates
from tests.support.order import longest_first

from holdfast.world import node

# Fixtures that several folders use: the service in this process, as a command, and as the client meets it.
pytest_plugins = (
    "tests.support.api",
    "tests.support.serving",
    "tests.support.running_service",
    "tests.support.databases",
)

trusted_certificates.read_once()
os.environ["PATH"] = node.search_path()  # the environment's Node, which every test that needs one runs

# A failure must be one of the change under test. HOLDFAST_TEST_EXPLORE=1 looks for new examples instead.
_CALM = settings(
    derandomize="HOLDFAST_TEST_EXPLORE" not in os.environ, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("calm", _CALM)
settings.load_profile("calm")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    longest_first(items)
