"""A headless Chromium, with a virtual authenticator for a page."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from playwright.async_api import async_playwright

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from playwright.async_api import BrowserContext, CDPSession, Page

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "hasPrf": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


def chromium() -> str | None:
    """Return the path of the installed Chromium or Chrome, or None if none exists."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@asynccontextmanager
async def profile(folder: Path) -> AsyncIterator[BrowserContext]:
    """Open a browser with a new profile and with caches on disk, as real users have."""
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                own, executable_path=chromium(), args=FLAGS, timeout=120_000
            )
            try:
                yield context
            finally:
                await context.close()


async def session_of(page: Page) -> CDPSession:
    """Return the page's DevTools session, after adding a virtual authenticator."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable", {"enableUI": False})
    await session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return session
