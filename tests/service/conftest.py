"""Fixtures of the tests that speak to the running command over raw connections, and of those with a provider's API."""

import pytest
from tests.support.raw_connections import certificate, connected
from tests.support.receivers import provider

__all__ = ["certificate", "connected", "provider"]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    """A read of a chain that failed is repeated at once."""
    monkeypatch.setattr("holdfast.chain.rpc.RETRY_DELAYS_S", (0.0, 0.0))
