"""The minified client and pages, as a wheel serves them, instead of the checkout's modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route

BUILDER = Path(__file__).resolve().parents[2] / "browser" / "build.py"


def build_into(folder: Path) -> Path:
    """Write the files under /client/ to `folder`."""
    spec = importlib.util.spec_from_file_location("browser_build", BUILDER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build_served(folder)
    return folder


async def serve_built(context: BrowserContext, folder: Path) -> list[str]:
    """Serve requests for /client/ from `folder` with the service's headers; return the names of the requested files."""
    asked: list[str] = []

    async def built(route: Route) -> None:
        address, _, name = route.request.url.partition("/client/")
        asked.append(name)
        served = await route.fetch(url=f"{address}/client/holdfast.js")  # a checkout does not serve every built file
        await route.fulfill(response=served, body=(folder / name).read_text())

    await context.route("**/client/**", built)
    return asked
