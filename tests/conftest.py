"""Settings for all tests: property tests use the same examples in every run, without a time limit per example."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from tests.support import trusted_certificates
from tests.support.order import longest_first

from holdfast.world import node

# Fixtures for several folders: a service in the test process, a service started by the command, and databases.
pytest_plugins = (
    "tests.support.api", "tests.support.admin_port", "tests.support.serving", "tests.support.running_service",
    "tests.support.databases", "tests.support.small_disk", "tests.support.two_chains", "tests.support.unsteady",
)  # fmt: skip

trusted_certificates.read_once()
os.environ.pop("PYTHONUNBUFFERED", None)  # commands that tests start buffer their output, as they do for people
os.environ["PATH"] = node.search_path()  # the environment's Node, for every test that runs Node

# Examples are the same in every run, so that a new failure comes from the code. HOLDFAST_TEST_EXPLORE=1 tries new
# ones. Hypothesis also tries constants of our modules, but of those that the tests before have loaded.
_EXPLORES = "HOLDFAST_TEST_EXPLORE" in os.environ
if not _EXPLORES:
    providers.is_local_module_file = lambda _file: False
_CALM = settings(derandomize=not _EXPLORES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("calm", _CALM)
settings.load_profile("calm")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    longest_first(items)
