"""Settings for all tests: property tests use the same examples in every run, without a time limit per example."""

import os

import pytest
from hypothesis import HealthCheck, settings
from tests.support import trusted_certificates
from tests.support.order import longest_first

from holdfast.world import node

# Fixtures for several folders: a service in the test process, a service started by the command, and databases.
pytest_plugins = (
    "tests.support.api",
    "tests.support.admin_port",
    "tests.support.serving",
    "tests.support.running_service",
    "tests.support.databases",
    "tests.support.two_chains",
    "tests.support.unsteady",
)

trusted_certificates.read_once()
os.environ.pop("PYTHONUNBUFFERED", None)  # commands that tests start buffer their output, as they do for people
os.environ["PATH"] = node.search_path()  # the environment's Node, for every test that runs Node

# Examples are the same in every run, so that a new failure comes from the code. HOLDFAST_TEST_EXPLORE=1 tries new
# ones.
_CALM = settings(
    derandomize="HOLDFAST_TEST_EXPLORE" not in os.environ, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("calm", _CALM)
settings.load_profile("calm")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    longest_first(items)
