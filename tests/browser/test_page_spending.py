"""A subscription on the vault page: an app charges it while the browser is off, within a limit that the chain enforces."""

import asyncio
from contextlib import contextmanager

import pytest
from playwright.async_api import expect
from tests.support.page_visits import GERMAN, person
from tests.support.payments import new_vault

import holdfast
from holdfast.client.storage.vault_store import VaultStore

pytestmark = pytest.mark.timeout(300)
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"


@contextmanager
def app(chain, folder):
    """Yield the DID of an app's server, and what charges a permission in millionths of USDC."""
    with VaultStore(directory=folder) as store, new_vault(store, "app") as vault:

        def charge(container, amount):
            with holdfast.Client(chain.base_url, vault=vault, timeout=60) as client:
                client.spend(container, PAYEE, amount)

        yield vault.query().did, charge


async def allows(visit, did):
    """Let the app take 10 USDC in 30 days; return the text for the app."""
    await visit.press("spending", then="spending")
    await visit.press("new", then="spending-new")
    await visit.submit(to="did:key:zNoKeyOfAccounts")
    await visit.told("beginnt", ".bad")
    await visit.inspect("spending-new-de")
    for name, value in {"to": did, "limit": "10", "payee": PAYEE}.items():
        await visit.fill(name, value)
    await visit.press("submit", then="spending-review")
    shown = "".join((await visit.text("main")).split())
    assert [it for it in (did, PAYEE, "10,00USDCin30Tagen") if it not in shown] == []
    await visit.inspect("spending-review-de")
    await visit.press("confirm", then="spending-done")
    return await visit.page.input_value("#spending")


@pytest.mark.soak  # tests/client/flows/test_account_on_chain.py and test_account_keys.py spend by permissions in the gate
async def test_a_subscription_is_charged_while_every_device_is_off_and_then_withdrawn(browser, chain, tmp_path):
    visit, _, account = await person(await browser.new_context(**GERMAN), chain)
    chain.give(account, 50_000_000)
    before = chain.usdc_of(PAYEE)
    with app(chain, tmp_path) as (did, charge):
        container = await allows(visit, did)
        await visit.page.goto("about:blank")
        await visit.page.context.set_offline(True)
        await asyncio.to_thread(charge, container, 4_000_000)
        await asyncio.to_thread(charge, container, 5_500_000)
        assert chain.usdc_of(PAYEE) - before == 9_500_000
        with pytest.raises(holdfast.PaymentRefused, match="500000 of the permission are left"):
            await asyncio.to_thread(charge, container, 500_001)
        await visit.page.context.set_offline(False)
        await visit.open("/vault", then="home")
        await visit.told("Verbraucht: 9,50", '[data-card="delegations"]')
        await visit.press("spending", then="spending")
        await visit.told("Höchstens 10,00")
        await visit.inspect("spending-de")
        await visit.press("end-spending", status="Entzogen.")
        await expect(visit.page.locator("[data-permission]")).to_have_count(0)
        with pytest.raises(holdfast.PaymentRefused, match="was revoked"):
            await asyncio.to_thread(charge, container, 1)
    assert visit.complaints == []
