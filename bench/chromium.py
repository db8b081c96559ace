"""A real Chromium without a window, and a virtual authenticator for a page of it."""

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
    """The browser's program; None without one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@asynccontextmanager
async def profile(folder: Path) -> AsyncIterator[BrowserContext]:
    """A new profile, as a person has it: with caches on disk."""
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
    """The page's DevTools, with a virtual authenticator in it."""
    session = await page.context.new_cdp_session(page)
    await session.send("WebAuthn.enable", {"enableUI": False})
    await session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return session
