"""Chromium and a running service."""

from tests.browser.conftest import browser  # noqa: F401 - the fixture
