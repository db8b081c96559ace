"""Payments from a shop on another origin, through the browser's payment sheet and on to the chain."""

import asyncio
import re
import secrets
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.support.page_visits import Visit
from tests.support.pages import Pages, serving
from tests.support.passkeys import PATIENCE_MS
from tests.support.paying import ADD_KEY, CAN_APPROVE, LOCKED, PAYEE, STRAY, Person, refused, unlocked
from tests.support.payment_window import LOADED, Held, confirm_page
from tests.support.payments import registered_payee
from tests.support.serving import PATIENCE_S

pytestmark = pytest.mark.whole_browser
PASSWORD = "correct horse battery staple"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "shop"


class ExampleShop(Pages):
    """Serves the files of examples/shop like `python -m http.server`."""

    def page(self):
        name = urlsplit(self.path).path.strip("/") or "index.html"
        file = EXAMPLE / name
        if file not in set(EXAMPLE.iterdir()):
            return b"", ""
        return file.read_bytes(), "text/javascript" if name.endswith(".js") else "text/html"


# The other side ends the request, as the payment worker tells the window.
OVER = """navigator.serviceWorker.dispatchEvent(new MessageEvent("message", {data: {type: "over"}}))"""
COPIED = """(() => {
  getSelection().selectAllChildren(document.querySelector(".address"));
  return getSelection().toString();
})()"""


async def test_a_payment_from_a_shop_arrives_on_the_chain(payer, chain, shop):
    """What single sentences of the sheet say is tested in browser/test/pay_window.test.js."""
    person, before, balance = payer, chain.usdc_of(PAYEE), chain.usdc_of(payer.account)
    note = f"new hf.VaultStore().setNote('pages:facts:{person.did}', {{identifier: 'ada.lovelace'}})"
    await person.page.evaluate(note)
    window, told = await person.asked(shop, label="Two <b>books</b>")
    await person.passkey_in(window)
    await window.shows("document.getElementById('fee').textContent.includes('sponsor')")
    left = f"{(balance - 12_500_000) / 10**6:.2f}\\u00a0USDC will be left"
    await window.shows(f"document.getElementById('left').textContent === '{left}'")
    shown = await window.evaluate("document.body.innerText")
    for text in ("Two <b>books</b>", shop.rstrip("/"), "Base Sepolia (84532)", "ada.lovelace", person.did):
        assert text in shown
    assert await window.evaluate(COPIED) == PAYEE
    await chooses_the_key_by_the_keyboard(window)
    # Of the chain, only the gas price is read.
    status = await asyncio.to_thread(httpx2.get, f"{person.service}/api/status")
    rpc = urlsplit(status.json()["rpc"])
    assert set(await window.evaluate(LOADED)) == {person.service, f"{rpc.scheme}://{rpc.netloc}"}
    held = await Held.of(window)
    await window.key("Enter")
    await asyncio.wait_for(held.reached.wait(), PATIENCE_S)
    await window.evaluate(OVER)
    assert "Sending" in await window.evaluate("document.body.innerText"), "after the agreement, the chain decides"
    focused = await window.evaluate("document.activeElement.id")
    assert focused == "heading", "the keyboard and a screen reader keep their place"
    held.released.set()
    result = await asyncio.wait_for(told, PATIENCE_S)
    assert chain.usdc_of(PAYEE) - before == 12_500_000
    assert result == {
        "txHash": result["userOpHash"], "userOpHash": result["userOpHash"], "chain": 84532, "token": chain.usdc,
        "explorerUrl": f"https://base-sepolia.blockscout.com/op/{result['userOpHash']}",
    }  # fmt: skip
    noted = f"hf.VaultStore && new hf.VaultStore().note('pages:sent:{person.did}')"
    row = (await person.page.evaluate(noted))[0]
    assert (row["shop"], row["label"], row["address"]) == (urlsplit(shop).netloc, "Two <b>books</b>", PAYEE)
    assert row["state"] == "confirmed"


async def chooses_the_key_by_the_keyboard(window):
    """Choose the password, go back to the passkey, and reach the button that pays."""
    await window.shows(CAN_APPROVE)
    assert await window.evaluate(STRAY) == [False, True], "a stray click neither pays nor takes the focus away"
    await window.shows(CAN_APPROVE)
    await window.focuses("other-key")
    await window.key("Space")
    await window.shows("document.activeElement.id === 'password'")
    await window.focuses("other-key")
    await window.key("Enter")
    await window.shows("document.activeElement.id === 'other-key' && !document.getElementById('password')")
    await window.shows(CAN_APPROVE)
    await window.focuses("approve")


async def test_the_example_shop_is_paid_at_the_address_that_was_shown(browser, payer, chain):
    """While the person reads, the DID gets another account, which is not paid."""
    assert all(len(file.read_text().splitlines()) < 100 for file in EXAMPLE.iterdir())
    person, payee = payer, await asyncio.to_thread(registered_payee, chain)
    own, other = payee.account, "0x" + secrets.token_hex(20)

    async def moved(url, _body):
        """Answer as the service does once the DID's controller has changed."""
        if not re.search("api/indexer|accounts/state", url) or person.account.lower() in url.lower():
            return None
        async with httpx2.AsyncClient() as client:
            answer = await client.get(re.sub(other, own, url, flags=re.IGNORECASE))
        return re.sub(own, other, answer.text, flags=re.IGNORECASE)

    with serving(ExampleShop) as shop:
        page = await person.context.new_page()
        await page.goto(f"{shop}?holdfast={person.service}&token={chain.usdc}&to={payee.did}")
        await page.click("#pay:enabled")
        window = await confirm_page(browser)
        await window.shows(CAN_APPROVE)
        await window.click("cancel")
        await page.locator("#outcome", has_text="The person cancelled. Nothing was paid.").wait_for()
        await page.click("#pay:enabled")
        await page.locator("#outcome", has_not_text="cancelled").wait_for(state="attached")
        window = await confirm_page(browser)
        await person.passkey_in(window)
        await window.shows("document.getElementById('fee').textContent.includes('sponsor')")
        await window.shows(CAN_APPROVE)
        assert await window.evaluate("document.querySelector('[data-name=payee]').textContent") == own
        await window.intercept(moved)
        await window.click("approve")
        await page.locator("#outcome", has_text="has arrived").wait_for(timeout=PATIENCE_MS)
    assert (chain.usdc_of(own), chain.usdc_of(other)) == (12_500_000, 0)


async def test_nothing_is_paid_without_money_a_vault_or_the_person(browser, payer, chain, shop):
    """What is wrong with a request itself is decided without a browser: browser/test/payment_requests.test.js."""
    person, before = payer, chain.usdc_of(payer.account)
    await person.page.evaluate(LOCKED)
    window, told = await person.asked(shop, {"currency": "USD", "value": "9000000"}, amount="9000000000000")
    await window.shows("document.querySelector('#receive svg') !== null")
    shown = await window.evaluate("document.querySelector('#receive .address').textContent")
    assert shown == person.account, "where money is to be sent"
    await window.picture("pay-too-little")
    assert (await refused(window, told, "you need 9,000,000.00\u00a0USDC"))["error"] == "insufficient_balance"
    window, told = await person.asked(shop)
    await window.command("Emulation.setFocusEmulationEnabled", enabled=True)
    await window.shows(CAN_APPROVE)
    await window.focuses("approve", backwards=True)
    await window.focuses("cancel", backwards=True)
    await window.key("Space")
    details = await asyncio.wait_for(told, PATIENCE_S)
    assert details == {"error": "user_cancelled", "message": "The person cancelled. Nothing was paid."}
    assert await person.can_pay()
    assert chain.usdc_of(person.account) == before
    await without_a_vault(browser, chain, shop)


async def without_a_vault(browser, chain, shop):
    context = await browser.new_context()
    person = Person(context, await context.new_page(), chain, "", "")
    assert not await person.can_pay()
    assert await context.pages[-1].evaluate("indexedDB.databases()") == [], "asking creates no database"
    window, told = await person.asked(shop)
    await window.shows("document.getElementById('register')")
    assert (await refused(window, told, "There is no vault in this browser"))["error"] == "no_vault"


async def test_a_vault_that_does_not_open_yet_and_a_worker_that_forgets(payer, chain, shop):
    person = payer
    await person.page.evaluate(LOCKED)
    await unlocked(person)
    window, told = await person.asked(shop)
    key = await window.passkey()
    await window.shows(CAN_APPROVE)
    await window.click("approve")  # the other tab releases the vault; this passkey does not open it yet
    await window.shows("document.getElementById('alert').textContent.includes('does not open the vault')")
    assert "12.50" in await window.evaluate("document.getElementById('approve').textContent")
    await unlocked(person)
    await person.page.evaluate(ADD_KEY, key)
    before, own = chain.usdc_of(PAYEE), chain.usdc_of(person.account)
    await window.shows(CAN_APPROVE)
    await window.command("ServiceWorker.enable")
    await window.command("ServiceWorker.stopAllWorkers")
    await window.click("approve")  # the vault is open in the other tab
    await window.shows("document.getElementById('outcome')?.textContent.includes('Nothing was signed')")
    assert await window.evaluate("document.getElementById('heading').textContent") == "This request is over"
    assert (chain.usdc_of(PAYEE), chain.usdc_of(person.account)) == (before, own)
    told.cancel()


@pytest.mark.soak  # test_vault.py takes a vault over in the gate
async def test_a_tab_that_had_the_vault_open_gives_it_up_and_gets_it_back(payer, chain, shop):
    person = payer
    await person.page.evaluate(LOCKED)
    window, told = await person.asked(shop)
    await unlocked(person)
    await person.page.evaluate(ADD_KEY, await window.passkey())
    await person.page.evaluate("(password) => client.vault.addKey({kind: 'password', password})", PASSWORD)
    await person.page.evaluate(LOCKED)
    tab = await Visit.of(person.context, chain.server, "/vault")
    await opened(tab)
    await window.shows(CAN_APPROVE)
    await window.click("approve")  # once: the window takes the vault over
    assert "txHash" in await asyncio.wait_for(told, PATIENCE_S)
    await tab.told("Locked, because you went to pay in a shop.", "#status")
    await opened(tab)
    # Another tab that wants the vault learns by itself that it is free again.
    other = await Visit.of(person.context, chain.server, "/vault")
    await other.screen("elsewhere")
    await tab.press("lock")
    await other.screen("unlock")


async def opened(tab):
    await tab.screen("unlock")
    await tab.press("use-password")
    await tab.fill("password", PASSWORD)
    await tab.page.keyboard.press("Enter")
    await tab.screen("home")
