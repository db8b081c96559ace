"""The payment window is accessible at its usual and a narrow width, in light and dark mode, in English and German."""

import json
import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from tests.support.page_visits import MOVING, SCHEMES
from tests.support.passkeys import PATIENCE_MS
from tests.support.unbuilt_client import serve_sources

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
SIZES = {"own": {"width": 608, "height": 550}, "narrow": {"width": 360, "height": 740}}
# Draws the payment sheet with the page's own modules, for a request in the form that the service worker passes on.
DRAW = """
async ([asked, payee, unknown]) => {
  const {readRequest} = await import("/client/pay/request.js");
  const {requestSheet, showFee, showLeft} = await import("/client/pay/sheet.js");
  const {screen} = await import("/client/pay/screens.js");
  const {text} = await import("/client/pay/text.js");
  const {amountOf} = await import("/client/pay/sheet.js");
  const facts = {chainId: 84532, chainName: "Base Sepolia", usdc: "0x036CbD53842c5426634e7929541eC2318f3dCF7e"};
  const request = readRequest(asked, facts);
  const did = "did:new:0x357778068cd62d30659f4b72ce2995c688922ad0dfada50be8eb8d6329ccea3a";
  const payers = [{did, name: "ada"}, ...(unknown ? [{did: did.replace("35", "53"), name: ""}] : [])];
  const choice = {did, payers, onChoice: () => {}};
  const drawn = requestSheet(request, payee, {chainName: facts.chainName, choice, familiarity: unknown ? "alike" : "new"});
  const pay = request.token ? text("pay", {amount: amountOf(request)}) : text("pay_unknown");
  screen(text("pay_host", {host: request.site.host}), [drawn], [
    {id: "other-key", text: text("use_password")}, {id: "cancel", text: text("cancel")}, {id: "approve", text: pay, main: true}]);
  showLeft(request, 87500000n);
  showFee(unknown ? {sponsored: false, cost: 120000000000000n} : {sponsored: true, cost: 0n});
  await Promise.all(document.getAnimations().map(({finished}) => finished));
}
"""
# Shows that the account has too little, and where money can be sent to it.
TOO_LITTLE = """
async (account) => {
  const [{showRefusal}, {Refusal}] = await Promise.all([import("/client/pay/endings.js"), import("/client/pay/request.js")]);
  showRefusal(new Refusal("insufficient_balance", {have: "0.00 USDC", need: "12.50 USDC", account}), () => {});
}
"""
SEEN = """
() => {
  const button = document.getElementById("approve").getBoundingClientRect();
  return button.top >= 0 && button.bottom <= innerHeight && button.right <= innerWidth
    && document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight;
}
"""


def request(**changes):
    """Return a request of a frame that another site shows, with changes to its data."""
    data = {"to": PAYEE, "amount": "12500000", "token": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "chainId": 84532,
            "label": "Two books"}  # fmt: skip
    total = {"currency": "USD", "value": "12.50"}
    inside = "https://mall.example"
    return {"site": "https://books.example", "inside": inside, "total": total, "data": {**data, **changes}}


async def opened(browser, server, language):
    context = await browser.new_context(locale=language, reduced_motion="reduce")
    await serve_sources(context)
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(f"http://localhost:{server.port}/pay/confirm")
    await page.wait_for_selector("#outcome")
    assert await page.evaluate("document.documentElement.lang") == language[:2]
    return page


async def violations(page):
    # The script is evaluated through CDP, because the page's CSP allows no script from another origin.
    session = await page.context.new_cdp_session(page)
    await session.send("Runtime.evaluate", {"expression": AXE_SCRIPT})
    found = await session.send(
        "Runtime.evaluate",
        {
            "expression": "axe.run().then((it) => JSON.stringify(it.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; '))))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    return list(json.loads(found["result"]["value"]))


# What the sheet says of each is tested in browser/test/pay_window.test.js.
CASES = {
    "did": (request(label=""), {"address": PAYEE, "did": "did:new:0x" + "5a" * 32}, False),
    "unknown": (
        request(token=PAYEE, amount="31000000"), {"address": PAYEE, "did": "did:web:xn--bcher-kva.example"}, True
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", [pytest.param("en-GB", marks=pytest.mark.soak), "de-DE"])
async def test_the_button_is_in_sight_and_the_sheet_is_accessible(browser, shared, language):
    """In English each screen is examined in one size of each color scheme."""
    page = await opened(browser, shared, language)
    for name, case in CASES.items():
        await page.evaluate(DRAW, list(case))
        for size, view in SIZES.items():
            await page.set_viewport_size(view)
            assert await page.evaluate(SEEN), (name, size)
        assert re.search(r"Test money|Testgeld", await page.inner_text("#test-network"))
        if language == "en-GB":  # the parts are those of the pages that the gate examines
            await accessible(page)
    if language == "en-GB":
        await page.evaluate(TOO_LITTLE, PAYEE)
        await page.wait_for_selector("#receive svg")
        await accessible(page)
        assert await page.evaluate(MOVING) == []


async def accessible(page):
    for scheme, view in zip(SCHEMES, SIZES.values(), strict=True):
        await page.emulate_media(color_scheme=scheme)
        await page.set_viewport_size(view)
        assert await violations(page) == [], (scheme, view)
