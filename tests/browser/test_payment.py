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
    from collections.abc import Callable, Iterator

    from playwright.async_api import Browser, Page

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


# Runs the worker's handlers in a page, because in headless Chromium a rejected response leaves the dialog open
# forever.
WORKER = """
async ([address, data, messages]) => {
  const handlers = {}, sent = [];
  const url = new URL("/pay/confirm", location.href).href;
  const page = (id, from = url) => ({id, url: from, postMessage: (message) => sent.push({...message, heardBy: id})});
  const worker = {addEventListener: (name, handler) => { handlers[name] = handler; }, location};
  const late = new Map();  // timers of ten minutes, which the message "ten minutes" runs
  let count = 0;
  const start = (run, ms) => ms < 600_000 ? setTimeout(run, ms) : late.set(count -= 1, run) && count;
  const stop = (timer) => late.delete(timer) || clearTimeout(timer);
  new Function("self", "setTimeout", "clearTimeout", await (await fetch(address)).text())(worker, start, stop);
  const method = location.origin + "/pay";
  // Two requests of a shop that uses the number of its order as the request's ID.
  const requests = [0, 1].map(() => {
    const asked = {};
    const event = {paymentRequestId: "order 1", topOrigin: "https://shop.example/", paymentRequestOrigin: "https://frame.example",
      total: {currency: "USD", value: "1.00"},
      methodData: [{supportedMethods: "https://elsewhere.example/pay", data: {to: "not ours"}}, {supportedMethods: method, data}],
      openWindow: async (address) => {
        asked.id = new URL(address, location.href).searchParams.get("request");
        return page(1);
      }};
    event.respondWith = (answer) => {
      asked.answer = answer.then((it) => ({answer: it}), ({name, message}) => ({name, message}));
    };
    handlers.paymentrequest(event);
    return asked;
  });
  let aborted = null;
  for (const {from, page: id = 1, of = 0, ...message} of messages) {
    if (message.type === "ten minutes") [...late.values()].forEach((run) => run());
    else if (message.type === "abort") handlers.abortpayment({respondWith: (answer) => { aborted = answer; }});
    else handlers.message({data: {request: requests[of].id, ...message}, source: page(id, from)});
  }
  const pending = new Promise((resolve) => setTimeout(() => resolve({pending: true}), 1500));
  const [first, second] = await Promise.all(requests.map(({answer}) => Promise.race([answer, pending])));
  return {sent, aborted, second, ...first};
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


async def ask(browser: Browser, shop: str, server: Server, **data: Any) -> tuple[Page, asyncio.Task[Any], str]:
    method = f"http://localhost:{server.port}/pay"
    page = await new_page(browser)
    await page.goto(shop)
    return page, asyncio.create_task(page.evaluate(ASK, [method, data])), method


async def plain(browser: Browser, server: Server) -> Page:
    """A page on the service's origin with a content security policy that allows what the tests need."""
    page = await new_page(browser)
    await page.route("**/plain", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    await page.goto(f"http://localhost:{server.port}/plain")
    return page


RESULT = {"txHash": "0x11", "userOpHash": "0x11", "chain": 84532, "token": "native", "explorerUrl": ""}
CANCELLED = {"error": "user_cancelled", "message": "The person cancelled.", "cancelled": True}
REFUSED = {"error": "insufficient_balance", "message": "Too little.", "cancelled": False}


READY, HANDING_OVER = {"type": "ready"}, {"type": "handing over"}
PAID = {"type": "paid", "result": RESULT}
OPTED = {"refusals": "result"}


async def worker(
    browser: Browser, serve: Callable[..., Server], *messages: dict[str, Any], data: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Send messages to a worker of which a shop has asked twice; return what it sent, and what the shop was told."""
    page = await plain(browser, serve())
    told: dict[str, Any] = await page.evaluate(WORKER, ["/pay/sw.js", data or OPTED, list(messages)])
    await page.close()
    return told


async def test_how_the_worker_answers_shops(browser: Browser, serve: Callable[..., Server]) -> None:
    told = await worker(browser, serve, READY, PAID, data={"to": "ours"})
    assert told["answer"]["details"] == RESULT and told["answer"]["methodName"].endswith("/pay")
    shown = told["sent"][0]["request"]
    assert shown["data"] == {"to": "ours"}
    assert (shown["site"], shown["inside"]) == ("https://frame.example", "https://shop.example")
    for refusal, name in ((CANCELLED, "AbortError"), (REFUSED, "OperationError")):
        refused = {"type": "refused", "refusal": refusal}
        assert (await worker(browser, serve, READY, refused, data={"to": "ours"}))["name"] == name
        opted = await worker(browser, serve, READY, refused)
        assert opted["answer"]["details"] == {"error": refusal["error"], "message": refusal["message"]}
    # A message from another page on the same origin arrives first and must have no effect.
    stranger = {**PAID, "from": "http://localhost/vault", "result": {"txHash": "0xbad"}}
    told = await worker(browser, serve, READY, stranger, PAID)
    assert told["answer"]["details"] == RESULT


async def test_two_requests_with_the_same_id_of_the_shop_do_not_cross(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    told = await worker(browser, serve, READY, {**READY, "of": 1, "page": 2}, PAID)
    assert told["answer"]["details"] == RESULT and told["second"] == {"pending": True}


async def test_only_the_page_that_was_told_to_go_on_reports_what_became_of_the_payment(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    other = {"page": 2}
    told = await worker(
        browser, serve, READY, {**READY, **other}, HANDING_OVER, {**HANDING_OVER, **other},
        {"type": "refused", "refusal": CANCELLED, **other}, {**READY, "page": 3}, PAID,
    )  # fmt: skip
    heard = [(it["heardBy"], it["type"]) for it in told["sent"]]
    assert heard == [
        (1, "request"), (2, "request"), (1, "go"), (2, "over"), (2, "over"), (3, "over"), (1, "over"), (2, "over")
    ]  # fmt: skip
    assert told["answer"]["details"] == RESULT


async def test_a_shop_that_was_let_go_is_not_paid(browser: Browser, serve: Callable[..., Server]) -> None:
    told = await worker(browser, serve, READY, {"type": "abort"}, HANDING_OVER, {**READY, "of": 1, "page": 2})
    assert told["aborted"] is True
    assert [it["type"] for it in told["sent"]][:3] == ["request", "over", "over"]
    assert told["answer"]["details"]["error"] == told["second"]["answer"]["details"]["error"] == "aborted_by_shop"
    told = await worker(
        browser, serve, READY, HANDING_OVER, {**READY, "of": 1}, {**HANDING_OVER, "of": 1}, {"type": "abort"}, PAID
    )
    assert told["aborted"] is False, "what is being sent to the chain cannot be withdrawn"
    assert told["answer"]["details"] == RESULT


@pytest.mark.parametrize("end", ["ten minutes", "abort"])
async def test_a_payment_that_failed_before_it_was_signed_can_end_again(
    browser: Browser, serve: Callable[..., Server], end: str
) -> None:
    going = await worker(browser, serve, READY, HANDING_OVER, {"type": end}, PAID)
    assert going["answer"]["details"] == RESULT, "only the chain decides"
    told = await worker(browser, serve, READY, HANDING_OVER, {"type": "asking again"}, {"type": end}, {"type": "wait"})
    expected = {"ten minutes": "no_answer_in_time", "abort": "aborted_by_shop"}[end]
    assert told["answer"]["details"]["error"] == expected


async def test_without_a_vault_no_shop_is_told_that_a_payment_can_be_made(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await plain(browser, serve())
    assert await page.evaluate(CAN_MAKE, "/pay/sw.js") is False
    assert await page.evaluate("indexedDB.databases()") == []  # asking created no database


async def test_the_page_without_a_vault_says_so(browser: Browser, shop: str, serve: Callable[..., Server]) -> None:
    server = serve()
    data = {"to": PAYEE, "amount": "31000000", "token": "native", "chainId": 84532, "refusals": "result"}
    _, asked, method = await ask(browser, shop, server, **data)
    window = await confirm_page(browser)
    await window.shows("document.querySelector('#back:enabled:not([aria-disabled])') !== null")
    assert "There is no vault in this browser" in await window.evaluate("document.body.innerText")
    await window.click("back")
    answer = await asyncio.wait_for(asked, PATIENCE_S)
    assert (answer["method"], answer["details"]["error"]) == (method, "no_vault")


class Mall(Pages):
    """A page that shows the shop of another site in a frame, which may ask for payments."""

    shop = ""

    def page(self) -> tuple[bytes, str]:
        return f'<!doctype html><iframe allow="payment" src="{self.shop}"></iframe>'.encode(), "text/html"


async def test_a_frame_of_another_site_is_not_taken_for_the_page_around_it(
    browser: Browser, shop: str, serve: Callable[..., Server]
) -> None:
    server = serve()
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
        data = {"to": PAYEE, "amount": "12500000", "token": "native", "chainId": 84532, **OPTED}
        asked = asyncio.create_task(frame.evaluate(ASK, [f"http://localhost:{server.port}/pay", data]))
        window = await confirm_page(browser)
        await window.shows("document.getElementById('row-shop')")
        shown = await window.evaluate("document.getElementById('row-shop').innerText")
        assert [line.strip("/") for line in shown.splitlines()] == [
            inner.strip("/"),
            f"It asks inside a page of {mall.strip('/')}.",
        ]
        assert urlsplit(inner).netloc in await window.evaluate("document.getElementById('heading').textContent")
        await window.click("cancel")
        assert (await asyncio.wait_for(asked, PATIENCE_S))["details"]["error"] == "user_cancelled"


async def test_a_shop_that_aborts_is_let_go(browser: Browser, shop: str, serve: Callable[..., Server]) -> None:
    server = serve()
    page, asked, _ = await ask(browser, shop, server, to=PAYEE)
    window = await confirm_page(browser)
    await window.shows("document.getElementById('back')")
    await page.evaluate("void window.asked.abort()")
    answer = await asyncio.wait_for(asked, PATIENCE_S)
    assert answer["error"] == "AbortError"


async def test_the_page_without_a_request_says_so(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve()
    page = await new_page(browser)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    await page.goto(f"http://localhost:{server.port}/pay/confirm")
    await page.wait_for_selector("#outcome:has-text('No shop is asking')")
    await page.goto(f"http://localhost:{server.port}/pay")
    assert "payment method" in await page.inner_text("main")
    await page.goto(f"http://localhost:{server.port}/docs")
    assert "/api/sessions/check" in await page.inner_text("table")
    assert errors == []
