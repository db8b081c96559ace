"""A shop on another origin asks for a payment; the page shows it; the shop's promise always settles."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.pages import Pages, serving
from tests.support.serving import PATIENCE_S, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.async_api import Browser, CDPSession, Page

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
ASK = """
async ([method, data]) => {
  const details = {total: {label: "Total", amount: {currency: "USD", value: "12.50"}}};
  const request = new PaymentRequest([{supportedMethods: method, data}], details);
  window.asked = request;
  try {
    const response = await request.show();
    await response.complete("success");
    return {method: response.methodName, details: response.details};
  } catch (error) {
    return {error: error.name, message: error.message};
  }
}
"""


# Chromium does not ask the worker in every case, so its handler is called here directly.
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


async def ask(browser: Browser, shop: str, server: Server, **data: Any) -> tuple[Page, asyncio.Task[Any], str]:
    method = f"http://localhost:{server.port}/pay"
    page = await new_page(browser)
    await page.goto(shop)
    return page, asyncio.create_task(page.evaluate(ASK, [method, data])), method


async def test_the_page_shows_the_request_and_cancelling_tells_the_shop(
    browser: Browser, shop: str, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve()
    data = {"to": PAYEE, "amount": "31000000", "token": "native", "chainId": 84532, "label": "Two <b>books</b>"}
    _, asked, method = await ask(browser, shop, server, **data)
    window = await confirm_page(browser)
    await window.shows("document.getElementById('cancel') && !document.getElementById('cancel').disabled")
    text = await window.evaluate("document.body.innerText")
    for shown in (
        "12.50 USD",
        "31000000 (smallest unit)",
        PAYEE,
        "ETH (native)",
        "Base Sepolia (84532)",
        "Two <b>books</b>",
        shop.rstrip("/"),
    ):
        assert shown in text
    assert "cannot sign payments in the browser" in text
    picture = await window.command("Page.captureScreenshot", format="png")
    (tmp_path / "confirm.png").write_bytes(base64.b64decode(picture["data"]))
    if folder := os.environ.get("HOLDFAST_TEST_PICTURES"):
        (tmp_path / "confirm.png").rename(f"{folder}/confirm.png")
    await window.click("cancel")
    answer = await asyncio.wait_for(asked, PATIENCE_S)
    assert answer == {"method": method, "details": {"success": False, "error": "cancelled_by_user"}}


async def test_no_shop_is_told_that_a_payment_can_be_made(
    browser: Browser, shop: str, serve: Callable[..., Server]
) -> None:
    """The page cannot sign: a shop that believes a yes would lose the sale."""
    page = await new_page(browser)
    await page.goto(shop)
    assert await page.evaluate(CAN_MAKE, f"{serve().url}/pay/sw.js") is False


async def test_a_shop_that_aborts_is_let_go(browser: Browser, shop: str, serve: Callable[..., Server]) -> None:
    server = serve()
    page, asked, _ = await ask(browser, shop, server, to=PAYEE)
    window = await confirm_page(browser)
    await window.shows("!document.getElementById('cancel').disabled")
    await page.evaluate("void window.asked.abort()")
    answer = await asyncio.wait_for(asked, PATIENCE_S)
    assert answer["error"] == "AbortError"


async def test_the_page_without_a_request_says_so(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve()
    page = await new_page(browser)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(f"http://localhost:{server.port}/pay/confirm")
    await page.wait_for_function("document.getElementById('outcome').textContent.includes('No shop asks')")
    await page.goto(f"http://localhost:{server.port}/pay")
    assert "payment method" in await page.inner_text("main")
    await page.goto(f"http://localhost:{server.port}/docs")
    assert "/api/sessions/check" in await page.inner_text("table")
    assert errors == []
