"""The client's modules, each by itself, for tests of single modules; the service serves the build."""

from __future__ import annotations

from playwright.async_api import BrowserContext, Page, Route

from holdfast.service.web.client_files import BUILT

MODULES = BUILT.parent / "modules"


def module(name: str) -> bytes:
    """Return the script of a module: its source without types, or its bundle if it imports npm packages."""
    bundled = MODULES / "bundled" / name
    return (bundled if bundled.exists() else MODULES / "src" / name).read_bytes()


async def serve_sources(visited: BrowserContext | Page) -> None:
    """Answer requests for /client/ with the modules of browser/src and the service's headers."""

    headers: dict[str, str] = {}

    async def source(route: Route) -> None:
        address, _, name = route.request.url.partition("?")[0].partition("/client/")
        if not headers:  # not every module is in the build
            headers.update((await route.fetch(url=f"{address}/client/holdfast.js")).headers)
        await route.fulfill(headers=headers, body=module(name))

    await visited.route("**/client/**", source)
