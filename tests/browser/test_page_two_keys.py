"""An account where two keys must sign, on the vault page: above a sum, and below it."""

import pytest
from tests.support.page_visits import person

pytestmark = pytest.mark.timeout(300)
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
TWO = '[data-card="two"]'


async def has_a_second_passkey(visit):
    """Add a passkey on a security key, then let one authenticator hold both: of two, one would end each request."""
    first = visit.authenticator.id
    await visit.authenticator.add(transport="usb")
    await visit.press("add-key")
    await visit.page.locator("[data-credential] + [data-credential]").wait_for()
    (made,) = await visit.authenticator.credentials()
    await visit.authenticator.remove()
    visit.authenticator.id = first
    # One authenticator holds one resident credential of a person.
    moved = {name: made[name] for name in ("credentialId", "rpId", "privateKey", "signCount")}
    await visit.authenticator.send("addCredential", credential={**moved, "isResidentCredential": False})


async def changed(visit):
    await visit.page.locator('main[data-screen="keys"] #status:not(:empty)').wait_for()


async def reviews(visit, amount):
    await visit.press("send", then="send")
    await visit.submit(to=PAYEE, amount=amount)


async def test_two_keys_sign_above_a_sum(browser, chain):
    visit = await where_two_must_sign_above_10(browser, chain)
    before = chain.usdc_of(PAYEE)
    await reviews(visit, "9")
    await visit.screen("send-review")
    await visit.press("confirm")
    await visit.screen("send-done")  # one key
    await visit.press("done")
    await reviews(visit, "11")
    await visit.screen("send-review")
    await visit.press("confirm")
    await visit.page.locator("dialog").wait_for()
    await visit.inspect("two-second")
    await visit.press("yes", "dialog", then="send-done")
    assert chain.usdc_of(PAYEE) - before == 20_000_000
    assert visit.complaints == []


async def where_two_must_sign_above_10(browser, chain):
    """Return the vault's page of a person with money who lets two passkeys sign payments above 10 USDC."""
    visit, _, account = await person(browser, chain)
    chain.give(account, 100_000_000)
    await has_a_second_passkey(visit)
    await visit.press("keys", then="keys")
    await visit.page.locator('[data-name="add-passkey"]').last.click()
    await changed(visit)
    await visit.submit(TWO, sum="10")
    await visit.inspect("two-asked")
    await visit.press("yes", "dialog")
    await visit.page.locator('[data-name="two-state"]').wait_for()
    await visit.told("you have only two: if you lose one")
    await visit.inspect("two-on")
    await visit.press("back")
    return visit
