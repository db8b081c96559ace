"""The client's modules as they are in the checkout, for tests of single modules; the service serves the build."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import BrowserContext, Page, Route

from holdfast.service.web.client_files import BUILT, BUNDLED

SOURCES = Path(__file__).resolve().parents[2] / "browser" / "src"


async def serve_sources(visited: BrowserContext | Page) -> None:
    """Answer requests for /client/ with the modules in browser/src and the service's headers."""

    headers: dict[str, str] = {}

    async def source(route: Route) -> None:
        address, _, name = route.request.url.partition("?")[0].partition("/client/")
        if not headers:  # not every module is in the build
            headers.update((await route.fetch(url=f"{address}/client/holdfast.js")).headers)
        await route.fulfill(headers=headers, body=((BUILT if name in BUNDLED else SOURCES) / name).read_text())

    await visited.route("**/client/**", source)
