"""A shop on another origin, and a person who pays there in the payment window."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page
from tests.support.chain_service import ChainService
from tests.support.pages import Pages
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, outcome, visit
from tests.support.payment_window import ConfirmPage, confirm_page
from tests.support.serving import PATIENCE_S

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
ADD_KEY = """async ({id, secret}) => {
  await client.vault.addKey({kind: "prf", id, secret: Uint8Array.from(secret).buffer});
}"""
REGISTER = "return client.register({handle: 'h%s'})"
LOCKED = "async () => { await client.vault.lock(); }"
ASK = """
async ([method, data, amount]) => {
  const details = {total: {label: "Total", amount}};
  window.asked = new PaymentRequest([{supportedMethods: method, data: {refusals: "result", ...data}}], details);
  const response = await asked.show();
  await response.complete("txHash" in response.details ? "success" : "unknown");
  return response.details;
}
"""


class Shop(Pages):
    def page(self) -> tuple[bytes, str]:
        return b"<!doctype html><title>Shop</title><h1>Shop</h1>", "text/html"


@dataclass
class Person:
    context: BrowserContext
    page: Page
    chain: ChainService
    did: str
    account: str

    @classmethod
    async def registered(cls, browser: Browser, chain: ChainService, context: BrowserContext | None = None) -> Person:
        person = await cls.unregistered(browser, chain, context)
        registered = await outcome(person.page, REGISTER % secrets.token_hex(6))
        assert registered["value"]["smartAccount"] == person.account, registered
        return person

    @classmethod
    async def unregistered(cls, browser: Browser, chain: ChainService, context: BrowserContext | None = None) -> Person:
        context = context or await browser.new_context()
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await visit(page, chain.server)
        await Authenticator.of(page)
        await page.evaluate(CLIENT, {})
        made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
        return cls(context, page, chain, made["did"], await page.evaluate("client.account().then((it) => it.address)"))

    async def asked(
        self, shop: str, total: dict[str, str] | None = None, **data: Any
    ) -> tuple[ConfirmPage, asyncio.Task[Any]]:
        page = await self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(shop)
        method = f"{self.service}/pay"
        asked = {"to": PAYEE, "amount": "12500000", "token": self.chain.usdc, "chainId": 84532, **data}
        total = total or {"currency": "USD", "value": "12.50"}
        told = asyncio.create_task(page.evaluate(ASK, [method, asked, total]))
        assert self.context.browser
        return await confirm_page(self.context.browser), told

    @property
    def service(self) -> str:
        return f"http://localhost:{urlsplit(self.chain.base_url).port}"

    async def passkey_in(self, window: ConfirmPage) -> None:
        key = await window.passkey()
        if await self.page.evaluate("client.vault.status().then(({locked}) => locked)"):
            await unlocked(self)
        await self.page.evaluate(ADD_KEY, key)
        await self.page.evaluate(LOCKED)

    async def can_pay(self) -> bool:
        """Return the reply of the worker's `canmakepayment` handler, which Chromium itself does not always call."""
        page = await self.context.new_page()
        await page.route("**/plain", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        await page.goto(f"{self.service}/plain")
        answer: bool = await page.evaluate(CAN_MAKE, f"{self.service}/pay/sw.js")
        return answer


async def unlocked(person: Person) -> None:
    opened = await outcome(
        person.page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()), null, {takeOver: true})"
    )
    assert opened["value"]["success"], opened


async def refused(window: ConfirmPage, told: asyncio.Task[Any], text: str) -> dict[str, Any]:
    """Assert that the window gives the reason and says that nothing was paid; return the result that the shop gets."""
    await window.shows("document.querySelector('#back:enabled:not([aria-disabled])') !== null")
    shown = await window.evaluate("document.body.innerText")
    assert text in shown and "Nothing was paid." in shown, shown
    assert not told.done()
    await window.click("back")
    details: dict[str, Any] = await asyncio.wait_for(told, PATIENCE_S)
    assert set(details) == {"error", "message"} and "txHash" not in details
    return details


# Chromium does not always send `canmakepayment` to the worker, so its handler is called directly.
CAN_MAKE = """
async (address) => {
  const handlers = {};
  const worker = {addEventListener: (name, handler) => { handlers[name] = handler; }};
  new Function("self", await (await fetch(address)).text())(worker);
  return await new Promise((answer) => handlers.canmakepayment({respondWith: answer}));
}
"""
CAN_APPROVE = "document.querySelector('#approve:enabled:not([aria-disabled])') !== null"
# The window returns to the front, where a click meant for another window hits the button, which is focused.
STRAY = """(() => {
  const it = document.getElementById("approve");
  it.focus();
  dispatchEvent(new Event("focus"));
  it.click();
  return [it.disabled, document.activeElement === it];
})()"""
