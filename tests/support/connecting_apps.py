"""Apps on other origins that send people to /connect, and functions for what a person does in the window that opens."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Browser, BrowserContext, Page
from tests.support.page_visits import Visit
from tests.support.pages import Pages
from tests.support.passkeys import Authenticator
from tests.support.serving import Server

ASK = """
async ([service, request, options]) => {
  const { connect } = await import(`${service}/client/connect.js`);
  document.querySelector("button").onclick = () => {
    window.told = connect(request, options).then((result) => ({result}), ({code, message}) => ({code, message}));
  };
}
"""


class App(Pages):
    """A page of another site, which takes answers at its address."""

    headers_of_all = (("Access-Control-Allow-Origin", "*"),)
    declared = b'{"returns": ["/"]}'

    def page(self) -> tuple[bytes, str]:
        if self.path == "/.well-known/holdfast-connect":
            return self.declared, "application/json"
        return b"<!doctype html><title>App</title><button>Go</button>", "text/html"


async def asking(
    context: Browser | BrowserContext, app: str, server: Server, request: dict[str, Any], **options: Any
) -> Page:
    page = await context.new_page()
    await page.goto(app)
    await page.evaluate(ASK, [f"http://localhost:{server.port}", request, options])
    return page


async def told(page: Page) -> dict[str, Any]:
    answer: dict[str, Any] = await page.evaluate("told")
    return answer


async def clicked(page: Page, server: Server, selector: str = "button") -> Visit:
    """Click the app's button, and return the window that opens, with a virtual authenticator."""
    async with page.expect_popup() as opening:
        await page.click(selector)
    window = Visit(await opening.value, server)
    window.authenticator = await Authenticator.of(window.page)
    return window


async def registered(window: Visit, handle: str) -> None:
    await window.screen("start")
    await window.choose("handle", handle, then="passkey")
    await window.press("create", then="safety")
    await window.press("later", then="consent")


async def allow(window: Visit) -> None:
    await window.page.locator('[data-name="allow"]:enabled:not([aria-disabled])').click()
