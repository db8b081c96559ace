"""An empty account in the local world gets test USDC from the vault's page."""

import secrets
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from tests.support.availability import why_no_chain
from tests.support.page_visits import GERMAN, Visit

from holdfast.world.development import DevelopmentOptions, develop

PATIENCE_MS = 60_000


async def registered(browser, url, **options):
    server = SimpleNamespace(port=urlsplit(url).port)
    visit = await Visit.of(await browser.new_context(**options), server)
    visit.page.set_default_timeout(PATIENCE_MS)
    await visit.register(f"h{secrets.token_hex(5)}")
    await visit.page.locator('[data-name="balances"] .amount').first.wait_for()
    return visit


@pytest.mark.soak  # only the local world has a faucet; tests/world/test_faucet.py asks it in the gate
async def test_an_empty_account_of_the_local_world_gets_test_usdc(browser, tmp_path):
    if why := why_no_chain():
        pytest.skip(why)
    async with develop(DevelopmentOptions(state=tmp_path), lambda _: None) as world:
        for language, given, received in (
            ({}, "Test USDC has arrived.", "100.00\u00a0USDC"),
            (GERMAN, "Die Test-USDC sind da.", "100,00\u00a0USDC"),
        ):
            visit = await registered(browser, world.facts["service"], **language)
            await visit.press("faucet")
            await visit.told(given)
            await visit.page.locator('[data-name="balances"]', has_text=received).wait_for()
            await visit.page.get_by_text(received).nth(1).wait_for()  # under Activity
            await visit.shoot(f"vault-faucet-given-{len(language)}")
            # A person who wants to pay more than they have gets it there, and goes on.
            await visit.press("send")
            await visit.submit(to=world.facts["testAccount"]["address"], amount="150")
            await visit.press("faucet", then="send-review")
            await visit.page.context.close()
