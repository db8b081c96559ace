"""Sending payments from the vault page on the local chain: what the person sees, and the chain's state afterwards."""

import asyncio
import re

import httpx2
import pytest
from tests.support.page_visits import person, requested
from tests.support.payments import registered_payee

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
ACTIVITY = '[data-card="activity"]'


async def given(visit, chain, account, *, usdc=0, wei=0):
    """Fund the account and wait until the page shows the balance, which the service caches for two seconds."""
    if usdc:
        chain.give(account, usdc)
    if wei:
        chain.fund(account, wei)
    await asyncio.sleep(2.1)
    await visit.press("refresh")


async def fill(visit, to, amount, token="USDC"):
    await visit.fill("to", to)
    await visit.fill("amount", amount)
    await visit.page.select_option('[name="token"]', token)
    await visit.press("submit")


async def is_told_what_cannot_be_sent(visit, account):
    # as a person copies the address from another vault's page
    await fill(visit, f"{PAYEE[:2]} {PAYEE[2:6]} {PAYEE[6:]} ", "25")
    await visit.told("You have 5.00\u00a0USDC; you need 25.00\u00a0USDC.")
    assert (await visit.text('[data-name="too-little"] .mono')).replace(" ", "") == account
    await visit.inspect("send-too-little")
    await fill(visit, PAYEE, "0.0000001")
    await visit.told("at most 6 digits after the point")


async def has_a_receipt(visit, name, to):
    """See the payment in the chain's coin, which no transfer event tells, with a receipt like any other.

    A receipt that the person has opened stays open when the chain's payments arrive.
    """
    arrive = asyncio.Event()

    async def later(route):
        await arrive.wait()
        await route.continue_()

    await visit.page.route("**/transfers**", later)
    await visit.press("done")
    paid = visit.page.locator('[data-card="activity"] li', has_text=f"Sent 0.01\u00a0ETH to {name}")
    await paid.locator("summary").click()
    arrive.set()
    await visit.told("Received 5.00\u00a0USDC", ACTIVITY)
    shown = await paid.locator("dl").inner_text()
    assert "0.01\u00a0ETH" in shown and to in shown and "0x" in await paid.locator("dd").last.inner_text()
    await visit.page.unroute("**/transfers**", later)


async def pays_a_name(visit, chain, payee, account):
    await visit.press("send", then="send")
    await is_told_what_cannot_be_sent(visit, account)
    await fill(visit, "did:new:0x" + "11" * 32, "0.01", "ETH")
    await visit.told("DID is not registered, or not active.")
    await fill(visit, payee.name, "0.01", "ETH")
    await visit.screen("send-review")
    shown = await visit.text("main")
    for words in (
        payee.did,
        "0.01\u00a0ETH",
        "You have not paid this payee",
        "(84532)",
        "Test money without value.",
        "Paid by a sponsor",
    ):
        assert words in shown
    trust = visit.page.locator('[data-name="trust"]')
    about = (
        f"The chain confirms that the name {payee.name} belongs to this account. It does not say who {payee.name} is."
    )
    assert await trust.text_content() == about
    assert "good" not in str(await trust.get_attribute("class")), "a stranger's name is not shown as good"
    await visit.inspect("send-review-name")
    await visit.press("confirm", then="send-done")
    assert chain.coin_of(payee.account) == 10**16
    await has_a_receipt(visit, payee.name, payee.account)
    await visit.press("send")
    await fill(visit, payee.name, "0.01", "ETH")
    await visit.told("You have paid this payee from this browser before.")
    assert "good" in str(await trust.get_attribute("class"))
    await returns(visit)


async def returns(visit):
    await visit.press("back")
    await visit.press("back", then="home")


async def test_a_name_is_paid_and_nothing_is_sent_twice_or_without_the_person(browser, chain):
    """What cannot be paid is said in browser/test/send_screens.test.js."""
    payee = await asyncio.to_thread(registered_payee, chain)
    context = await browser.new_context()
    origins = requested(context)
    visit, _, account = await person(context, chain)
    await visit.page.locator('[data-name="receive"][open] svg').wait_for()
    assert "Test money without value." in await visit.text('[data-name="balances"]')
    assert await visit.page.locator('[data-name="faucet"]').count() == 0, "only the local world has a faucet"
    await given(visit, chain, account, wei=10**17, usdc=5_000_000)
    await pays_a_name(visit, chain, payee, account)
    rpc = (await asyncio.to_thread(httpx2.get, f"{chain.base_url}/api/status")).json()["rpc"]
    own = f"http://localhost:{visit.server.port}"
    assert origins == {own, rpc.rstrip("/")}, "besides the service, the chain is asked for the price of gas"
    chain.fund(account, 0)
    before = chain.usdc_of(PAYEE)
    await visit.press("send")
    await fill(visit, PAYEE, "5")
    await visit.screen("send-review")
    await loses_the_answer(visit)
    assert chain.usdc_of(PAYEE) - before == 5_000_000
    await given(visit, chain, account, usdc=5_000_000)
    await visit.press("send")
    await fill(visit, PAYEE, "5")
    await visit.alerted("The same payment, which you sent earlier, has gone through in the meantime.")
    await pays_the_shown_fee(visit, chain, account)
    assert chain.usdc_of(PAYEE) - before == 10_000_000
    assert 0 < 10**17 - chain.coin_of(account) < 10**16
    await given(visit, chain, account, usdc=5_000_000)
    await visit.press("send")
    await fill(visit, PAYEE, "5")
    await visit.screen("send-review")
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.press("confirm", alert="No passkey was used. Nothing changed.")
    assert chain.usdc_of(PAYEE) - before == 10_000_000
    assert visit.complaints == []


async def answered(route, method, error):
    """Answer a method with an error, or without one not at all."""
    asked = route.request.post_data_json
    if asked["method"] != method:
        return await route.continue_()
    if error is None:
        return await route.abort()
    return await route.fulfill(json={"jsonrpc": "2.0", "id": asked["id"], "error": error})


async def loses_the_answer(visit):
    """Confirm a payment whose receipt does not come: it is told as unconfirmed, and followed."""
    cut = False

    async def bundler(route):
        nonlocal cut
        method = route.request.post_data_json["method"]
        cut = cut or method == "eth_sendUserOperation"
        if cut and method != "eth_sendUserOperation":
            return await route.abort()
        return await route.continue_()

    await visit.page.route("**/api/bundler", bundler)
    await visit.press("confirm", then="send-unconfirmed", alert="If it stays open, send it again there")
    await visit.inspect("send-unconfirmed")
    await visit.page.unroute("**/api/bundler")
    await visit.press("done")
    await visit.told(f"Sent 5.00\u00a0USDC to {PAYEE}", ACTIVITY)


async def pays_the_shown_fee(visit, chain, account):
    """Pay without a sponsor: what the account lacks for the fee is told, and then the fee is shown and paid."""

    async def unsponsored(route):
        missing = {"code": -32601, "message": "the method does not exist"}
        await answered(route, "pm_sponsorUserOperation", missing)

    await visit.page.route("**/api/bundler", unsponsored)
    await visit.press("submit")  # that the same payment went through was told once
    await visit.alerted("No sponsor pays the network fee. For this payment your account needs 0.0")
    await visit.inspect("send-fee-missing")
    chain.fund(account, 10**17)
    await asyncio.sleep(2.1)
    await visit.press("submit", then="send-review")
    assert re.fullmatch("At most 0\\.0[0-9]+\u00a0ETH, from your account", await visit.text("#fee"))
    while await visit.page.locator('main[data-screen="send-done"]').count() == 0:
        await visit.press("confirm")  # again, if the fee rose after it was shown
        await visit.page.locator('main[data-screen="send-done"], #alert:not(:empty)').first.wait_for()
    await visit.page.unroute("**/api/bundler")
    await visit.press("done")


@pytest.mark.soak  # vectors/flows replace stuck payments in the gate
async def test_a_payment_that_is_stuck_is_sent_again_in_its_place(browser, chain):
    visit, _, account = await person(await browser.new_context(), chain)
    await given(visit, chain, account, usdc=20_000_000)
    before = chain.usdc_of(PAYEE)
    await visit.page.route("**/api/bundler", lambda route: answered(route, "eth_sendUserOperation", None))
    await visit.press("send")
    await fill(visit, PAYEE, "5")
    await visit.press("confirm", then="send-unconfirmed")
    await visit.page.unroute("**/api/bundler")
    await visit.press("done")
    await visit.told(f"Sent 5.00\u00a0USDC to {PAYEE}; not confirmed yet", ACTIVITY)
    await visit.inspect("activity-open-payment")
    await visit.press("send-again")
    await visit.told("Only one of the two can be made.")
    await visit.inspect("send-again")
    await visit.press("submit")
    await visit.press("confirm", then="send-done")
    assert chain.usdc_of(PAYEE) - before == 5_000_000
    await visit.press("done")
    await visit.told(f"Not sent: 5.00\u00a0USDC to {PAYEE}", ACTIVITY)
    assert "not confirmed yet" not in await visit.text(ACTIVITY)
    assert await visit.page.locator('[data-name="send-again"]').count() == 0
