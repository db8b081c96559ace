"""The real programs that these tests use: the Solidity compiler, forge, and a new anvil for each deployment."""

import pytest
from tests.support.fresh_chain import CONTRACTS, run_anvil

from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, PRODUCTION, load
from holdfast.world.errors import NodeMissing
from holdfast.world.tools import Tools, find_node


@pytest.fixture(scope="session")
def tools():
    try:
        node = find_node()
    except NodeMissing as why:
        pytest.skip(f"did not run: {why}")
    if not (CONTRACTS / "node_modules" / "solc").is_dir():
        pytest.skip("did not run: the npm packages of contracts/ are missing")
    return Tools(node, CONTRACTS / "node_modules")


@pytest.fixture(scope="session")
def forge(tools):
    """The forge binary, which tests run directly because the npm package's start script hides forge's exit code."""
    found = sorted((tools.modules / "@foundry-rs").glob("forge-*/bin/forge*"))
    if not found:
        pytest.skip("did not run: forge has no build for this machine")
    return found[0]


@pytest.fixture
def chain(tools):
    """A development chain without Holdfast's contracts."""
    with run_anvil(tools, "--chain-id", "84532") as fresh:
        yield fresh


@pytest.fixture(scope="module")
def deployed(tools):
    """A chain with all contracts, for tests that only read or that write data which no other test reads."""
    with run_anvil(tools) as fresh:
        for name in PRODUCTION:
            fresh.transact(DETERMINISTIC_DEPLOYER, load(name).deployment)
        yield fresh


@pytest.fixture
def foreign_chain(tools):
    """An anvil chain with the ID of a public chain, so that it does not count as a development chain."""
    with run_anvil(tools, "--chain-id", "8453") as fresh:
        yield fresh
