"""Fixtures of the tests that speak to the running command over raw connections."""

from tests.support.raw_connections import certificate, connected

__all__ = ["certificate", "connected"]
