"""Two browsers with the same vault pay; each lists the other's payments under the names that the person used there."""

import asyncio

import pytest
from tests.support.page_visits import Visit, new_name
from tests.support.synced_passkeys import exported, note_secret, synced

PATIENCE_MS = 60_000
ACTIVITY = '[data-card="activity"]'


async def pays(visit, to, amount):
    await visit.press("send")
    await visit.submit(to=to, amount=amount, then="send-review")
    await visit.press("confirm", then="send-done")
    await visit.press("done", then="home")


async def registered(browser, server):
    """Register a person whose passkey can be synced later; return the visit and the name."""
    visit = await Visit.of(await browser.new_context(), server, "/robots.txt")
    visit.page.set_default_timeout(PATIENCE_MS)
    await note_secret(visit.page)
    await visit.open("/")
    await visit.register(name := new_name())
    return visit, name


@pytest.mark.soak  # vectors/flows merge notes in the gate
async def test_each_browser_lists_the_others_payments_by_name(browser, chain):
    payee, name = await registered(browser, chain.server)
    did = await payee.text('[data-name="did"]')
    first, _ = await registered(browser, chain.server)
    account = (await first.text('[data-name="address"]')).replace(" ", "")
    chain.give(account, 20_000_000)
    await asyncio.sleep(2.1)  # the service caches the balance
    await pays(first, name, "1,25")
    await first.told(f"Sent 1.25\u00a0USDC to {name}", ACTIVITY)

    second = Visit(await (await browser.new_context()).new_page(), chain.server)
    second.page.set_default_timeout(PATIENCE_MS)
    second.authenticator = await synced(second.page, *await exported(first.page, first.authenticator))
    await second.open("/")
    await second.press("return")
    await second.press("recover", then="home")
    await second.told(f"Sent 1.25\u00a0USDC to {name}", ACTIVITY)
    await second.inspect("activity-of-another-device")
    await pays(second, did, "2.50")
    await second.told(f"Sent 2.50\u00a0USDC to {did}", ACTIVITY)

    await first.open("/vault", then="home")
    await first.told(f"Sent 2.50\u00a0USDC to {did}", ACTIVITY)
    await first.told(f"Sent 1.25\u00a0USDC to {name}", ACTIVITY)
    assert first.complaints == [] == second.complaints
