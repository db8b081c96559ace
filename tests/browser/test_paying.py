"""Payments from a shop on another origin, through the browser's payment sheet, to the chain itself."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from tests.support.chain_service import chain_service
from tests.support.pages import Pages, serving
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, outcome, visit
from tests.support.payment_window import ConfirmPage, confirm_page
from tests.support.serving import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Browser, BrowserContext, Page
    from tests.support.chain_service import ChainService

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
ADD_KEY = """async ({id, secret}) => {
  await client.vault.addKey({kind: "prf", id, secret: Uint8Array.from(secret).buffer});
}"""
LOCKED = "async () => { await client.vault.lock(); }"
ASK = """
async ([method, data, amount]) => {
  const details = {total: {label: "Total", amount}};
  window.asked = new PaymentRequest([{supportedMethods: method, data: {refusals: "result", ...data}}], details);
  const response = await asked.show();
  await response.complete("txHash" in response.details ? "success" : "fail");
  return response.details;
}
"""


class Shop(Pages):
    def page(self) -> tuple[bytes, str]:
        return b"<!doctype html><title>Shop</title><h1>Shop</h1>", "text/html"


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChainService]:
    with chain_service(tmp_path_factory.mktemp("chain")) as service:
        yield service


@pytest.fixture
def shop() -> Iterator[str]:
    with serving(Shop) as address:
        yield address


@dataclass
class Person:
    """Someone with a vault, in one browser profile."""

    context: BrowserContext
    page: Page
    chain: ChainService
    did: str
    account: str

    @classmethod
    async def registered(cls, browser: Browser, chain: ChainService) -> Person:
        context = await browser.new_context()
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await visit(page, SimpleNamespace(port=urlsplit(chain.base_url).port))
        await Authenticator.of(page)
        await page.evaluate(CLIENT, {})
        made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
        registered = await outcome(page, f"return client.register({{handle: 'h{secrets.token_hex(6)}'}})")
        return cls(context, page, chain, made["did"], registered["value"]["smartAccount"])

    async def asked(
        self, shop: str, amount: dict[str, str] | None = None, **data: Any
    ) -> tuple[ConfirmPage, asyncio.Task[Any]]:
        """A shop asks; the window that opens, and what the shop is told in the end."""
        page = await self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(shop)
        method = f"http://localhost:{urlsplit(self.chain.base_url).port}/pay"
        asked = {"to": PAYEE, "amount": "12500000", "token": self.chain.usdc, "chainId": 84532, **data}
        total = amount or {"currency": "USD", "value": "12.50"}
        told = asyncio.create_task(page.evaluate(ASK, [method, asked, total]))
        assert self.context.browser
        return await confirm_page(self.context.browser), told

    async def passkey_in(self, window: ConfirmPage) -> None:
        """The window has a passkey of the vault, which is locked afterwards."""
        await self.page.evaluate(ADD_KEY, await window.passkey())
        await self.page.evaluate(LOCKED)


CAN_APPROVE = "document.getElementById('approve') && !document.getElementById('approve').disabled"


async def test_a_payment_from_a_shop_arrives_on_the_chain(browser: Browser, chain: ChainService, shop: str) -> None:
    person = await Person.registered(browser, chain)
    chain.give(person.account, 20_000_000)
    before = chain.usdc_of(PAYEE)
    window, told = await person.asked(shop, label="Two <b>books</b>")
    await person.passkey_in(window)
    await window.shows("document.getElementById('fee').textContent.includes('sponsor')")
    shown = await window.evaluate("document.body.innerText")
    for text in ("12.50\u00a0USDC", "Two <b>books</b>", shop.rstrip("/"), "Base Sepolia (84532)", person.did):
        assert text in shown
    await window.shows(CAN_APPROVE)
    await window.click("approve")
    result = await asyncio.wait_for(told, PATIENCE_S)
    assert chain.usdc_of(PAYEE) - before == 12_500_000
    assert result["txHash"] == result["userOpHash"]
    assert result == {
        "txHash": result["userOpHash"], "userOpHash": result["userOpHash"], "chain": 84532, "token": chain.usdc,
        "explorerUrl": f"https://base-sepolia.blockscout.com/op/{result['userOpHash']}",
    }  # fmt: skip
