"""Measures how long it takes to register a vault and to pay with it in a shop on another origin."""

from __future__ import annotations

import asyncio
import secrets
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from bench.chromium import session_of
from bench.payment_window import PATIENCE_S, SentOperation, payment_window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.async_api import BrowserContext, Page

    from bench.installed import Installed

    Note = Callable[[str, float, float], object]

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
AMOUNT = 12_500_000
REGISTER = """async () => {
  const began = performance.now();
  document.querySelector('[data-name="create"]').click();
  await new Promise((done) => {
    const look = () => document.querySelector('main').dataset.screen === "safety" ? done() : setTimeout(look, 5);
    look();
  });
  return performance.now() - began;
}"""
OPEN = """async () => {
  const hf = window.hf = await import("/client/holdfast.js");
  window.client = new hf.Client();
  await client.boot();
  const opened = await client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()), null, {takeOver: true});
  if (!opened.success) throw new Error(opened.error);
  return (await client.account()).address;
}"""
ADD_KEY = """async ({id, secret}) => {
  await client.vault.addKey({kind: "prf", id, secret: Uint8Array.from(secret).buffer});
  await client.vault.lock();
}"""
MAKE_PASSKEY = """(async () => {
  const hf = await import("/client/holdfast.js");
  const key = await hf.passkeyKey(await hf.createPasskey({userName: "window"}));
  return {id: key.id, secret: [...new Uint8Array(key.secret)]};
})()"""
# Times are absolute (milliseconds since 1970), so that the times of two windows can be compared.
PAY = """async ([method, data]) => {
  const now = () => performance.timeOrigin + performance.now();
  const details = {total: {label: "Total", amount: {currency: "USD", value: "12.50"}}};
  const request = new PaymentRequest([{supportedMethods: method, data: {refusals: "result", ...data}}], details);
  const shown = now();
  const response = await request.show();
  const settled = now();
  await response.complete("txHash" in response.details ? "success" : "unknown");
  return {shown, settled, details: response.details};
}"""
FEE = "document.getElementById('fee')?.textContent.includes('sponsor')"
DRAWN = "performance.timeOrigin + performance.getEntriesByName('holdfast:sheet')[0]?.startTime"
CAN_APPROVE = "document.querySelector('#approve:enabled:not([aria-disabled])') !== null"
APPROVE = "window.approved = performance.timeOrigin + performance.now(); document.getElementById('approve').click()"


@dataclass(frozen=True, slots=True)
class Paid:
    """The times of one payment in milliseconds: until the payment sheet is drawn, and from the click to the result."""

    sheet: float
    settling: float
    operation: SentOperation

    @property
    def whole(self) -> float:
        """The time from show() to the result, excluding the time that the person took to confirm."""
        return self.sheet + self.settling


class _Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>Shop</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@contextmanager
def shop() -> Iterator[str]:
    """Serve the shop's page on another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


async def round_of(context: BrowserContext, service: Installed, at: str, payments: int, note: Note) -> None:
    """Register a person, who then makes payments in the shop. Raises RuntimeError if the shop is not paid."""
    async with service.mined() as blocks:
        page, took, operation = await registered(context, service)
        note("registration, from the click", took, await blocks.took(operation))
        await funded(page, service, payments)
        before = await service.usdc_of(PAYEE)
        for number in range(payments):
            if number:
                await page.evaluate(OPEN)
            one = await paid(page, service, at)
            chain = await blocks.took(one.operation)
            note("payment, show() to result", one.whole, chain)
            note("payment, show() to sheet", one.sheet, 0)
            note("payment, click to result", one.settling, chain)
        if await service.usdc_of(PAYEE) - before != AMOUNT * payments:
            raise RuntimeError("the chain does not have the payments")


async def registered(context: BrowserContext, service: Installed) -> tuple[Page, float, SentOperation]:
    """Register a handle on the service's page; return the page, the time in milliseconds, and the user operation."""
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    session = await session_of(page)
    operation = SentOperation()
    session.on("Network.requestWillBeSent", operation.saw)
    await session.send("Network.enable")
    await page.goto(service.url)
    await page.click('[data-name="register"]')
    await page.fill('[name="handle"]', "b" + secrets.token_hex(6))
    await page.click('main [data-name="submit"]')
    await page.locator('main[data-screen="passkey"]').wait_for()
    return page, await page.evaluate(REGISTER), operation


async def funded(page: Page, service: Installed, payments: int) -> None:
    """Give the account of the page's vault enough USDC for this many payments."""
    await page.goto(f"{service.url}/pay")
    account = await page.evaluate(OPEN)
    await service.give(account, AMOUNT * payments)


async def paid(person: Page, service: Installed, at: str) -> Paid:
    """Make one payment in a shop. Raises RuntimeError if the shop is not paid."""
    page = await person.context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    await page.goto(at)
    asked = {"to": PAYEE, "amount": str(AMOUNT), "token": service.usdc, "chainId": 84532}
    told = asyncio.create_task(page.evaluate(PAY, [f"{service.url}/pay", asked]))
    browser = person.context.browser
    assert browser is not None
    window = await payment_window(browser)
    await window.prepare()
    await window.until(FEE)
    drawn = await window.evaluate(DRAWN)
    await person.evaluate(ADD_KEY, await window.evaluate(MAKE_PASSKEY))
    await window.until(CAN_APPROVE)
    approved = await window.evaluate(f"{APPROVE}, window.approved")
    answer: dict[str, Any] = await asyncio.wait_for(told, PATIENCE_S)
    if "txHash" not in answer["details"]:
        raise RuntimeError(f"the shop was not paid: {answer['details']}")
    await page.close()
    return Paid(drawn - answer["shown"], answer["settled"] - approved, window.operation)
