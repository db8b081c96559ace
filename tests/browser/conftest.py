"""A real Chromium, without a window, on pages of localhost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import async_playwright
from tests.support.built_client import build_into

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((path for name in names if (path := shutil.which(name))), None) or (str(MAC) if MAC.exists() else None)
    assert found, "no Chromium on this machine: make setup installs it or says what to install"
    return found


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The minified client and pages, as a wheel has them."""
    return build_into(tmp_path_factory.mktemp("built") / "client")


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=120_000)
        yield launched
        await launched.close()
