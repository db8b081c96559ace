"""Fixtures of the tests that speak to the running command over raw connections, and of those with a provider's API."""

from tests.support.raw_connections import certificate, connected
from tests.support.receivers import provider

__all__ = ["certificate", "connected", "provider"]
