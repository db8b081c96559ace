"""The payment window and its service worker without a chain: what the page shows, and what the shop receives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.support.pages import Pages, serving
from tests.support.passkeys import CLIENT, MAKE, Authenticator
from tests.support.passkeys import new_page as client_page
from tests.support.payment_window import confirm_page
from tests.support.serving import PATIENCE_S, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Browser, Page

pytestmark = pytest.mark.whole_browser
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
ASK = """
async ([method, data]) => {
  const details = {total: {label: "Total", amount: {currency: "USD", value: "12.50"}}};
  const request = new PaymentRequest([{supportedMethods: method, data}], details);
  window.asked = request;
  try {
    const response = await request.show();
    await response.complete("unknown");
    return {method: response.methodName, details: response.details};
  } catch (error) {
    return {error: error.name, message: error.message};
  }
}
"""


CAN_MAKE = """
async (address) => {
  const handlers = {};
  const worker = {addEventListener: (name, handler) => { handlers[name] = handler; }};
  new Function("self", await (await fetch(address)).text())(worker);
  return await new Promise((answer) => handlers.canmakepayment({respondWith: answer}));
}
"""


class Shop(Pages):
    def page(self) -> tuple[bytes, str]:
        return b"<!doctype html><title>Shop</title><h1>Shop</h1>", "text/html"


@pytest.fixture
def shop() -> Iterator[str]:
    with serving(Shop) as address:
        yield address


async def new_page(browser: Browser) -> Page:
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    return page


async def ask(browser: Browser, shop: str, server: Server, **data: Any) -> tuple[Page, asyncio.Task[Any]]:
    page = await new_page(browser)
    await page.goto(shop)
    return page, asyncio.create_task(page.evaluate(ASK, [f"http://localhost:{server.port}/pay", data]))


async def plain(browser: Browser, server: Server) -> Page:
    """A page on the service's origin with a content security policy that allows what the tests need."""
    page = await new_page(browser)
    await page.route("**/plain", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    await page.goto(f"http://localhost:{server.port}/plain")
    return page


async def test_a_browser_without_a_vault(browser: Browser, shop: str, shared: Server) -> None:
    page = await plain(browser, shared)
    assert await page.evaluate(CAN_MAKE, "/pay/sw.js") is False
    assert await page.evaluate("indexedDB.databases()") == [], "asking created no database"
    await the_pages_of_payments(page, shared)
    page, asked = await ask(browser, shop, shared, to=PAYEE)
    window = await confirm_page(browser)
    await window.shows("document.getElementById('back')")
    await page.evaluate("void window.asked.abort()")
    assert (await asyncio.wait_for(asked, PATIENCE_S))["error"] == "AbortError"


async def the_pages_of_payments(page: Page, server: Server) -> None:
    """Assert that the pages that nobody opens by clicking say what they are for, and report no error."""
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(f"http://localhost:{server.port}/pay/confirm")
    await page.wait_for_selector("#outcome:has-text('No shop asks')")
    await page.goto(f"http://localhost:{server.port}/pay")
    assert "payment method" in await page.inner_text("main")
    await page.goto(f"http://localhost:{server.port}/docs")
    assert "/api/sessions/check" in await page.inner_text("main")
    assert errors == []


class Mall(Pages):
    """A page that shows the shop of another site in a frame, which may ask for payments."""

    shop = ""

    def page(self) -> tuple[bytes, str]:
        return f'<!doctype html><iframe allow="payment" src="{self.shop}"></iframe>'.encode(), "text/html"


async def test_a_frame_of_another_site_is_not_taken_for_the_page_around_it(
    browser: Browser, shop: str, shared: Server
) -> None:
    server = shared
    context = await browser.new_context()
    own = await client_page(context, server)
    await Authenticator.of(own)
    await own.evaluate(CLIENT, {})
    await own.evaluate(MAKE, {"name": "ada", "options": {}})
    inner = shop.replace("localhost", "127.0.0.1")
    with serving(type("Around", (Mall,), {"shop": inner})) as mall:
        page = await context.new_page()
        await page.goto(mall)
        frame = next(it for it in page.frames if it.url == inner)
        data = {"to": PAYEE, "amount": "12500000", "token": "native", "chainId": 84532, "refusals": "result"}
        asked = asyncio.create_task(frame.evaluate(ASK, [f"http://localhost:{server.port}/pay", data]))
        window = await confirm_page(browser)
        await window.shows("document.querySelector('.facts dd')")
        shown = await window.evaluate("document.querySelector('.facts dd').innerText")
        assert [line.strip("/") for line in shown.splitlines()] == [
            inner.strip("/"),
            f"It asks inside a page of {mall.strip('/')}.",
        ]
        assert urlsplit(inner).netloc in await window.evaluate("document.getElementById('heading').textContent")
        await window.click("cancel")
        assert (await asyncio.wait_for(asked, PATIENCE_S))["details"]["error"] == "user_cancelled"
