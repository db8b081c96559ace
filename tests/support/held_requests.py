"""Holds a page's requests back, as a slow service would."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page, Route
from tests.support.serving import PATIENCE_S

SETTLED_S = 0.5


class HeldRequests:
    """The requests of a page to the URLs of one pattern, which wait until they are released."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._page, self._pattern = page, pattern
        self._made, self._released = asyncio.Event(), asyncio.Event()

    @classmethod
    async def of(cls, page: Page, pattern: str) -> HeldRequests:
        held = cls(page, pattern)
        await page.route(pattern, held._wait)
        return held

    async def made(self) -> None:
        await asyncio.wait_for(self._made.wait(), PATIENCE_S)

    async def release(self) -> None:
        """Let the requests go, and give the page the time to use a response."""
        async with self._page.expect_response(self._pattern):
            self.go()
        await asyncio.sleep(SETTLED_S)

    def go(self) -> None:
        """Let the requests go, though the page may be closed before it uses a response."""
        self._released.set()

    async def _wait(self, route: Route) -> None:
        self._made.set()
        await self._released.wait()
        await route.continue_()
