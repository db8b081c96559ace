"""An empty account in the local world gets test USDC from the vault's page."""

from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from tests.support.availability import why_no_chain
from tests.support.page_visits import GERMAN, Visit, new_name

from holdfast.world.development import DevelopmentOptions, develop

RECEIVED = "100,00\u00a0USDC"


@pytest.mark.soak  # only the local world has a faucet; tests/world/test_faucet.py asks it in the gate
async def test_an_empty_account_of_the_local_world_gets_test_usdc(browser, tmp_path):
    if why := why_no_chain():
        pytest.skip(why)
    async with develop(DevelopmentOptions(state=tmp_path), lambda _: None) as world:
        server = SimpleNamespace(port=urlsplit(world.facts["service"]).port)
        visit = await Visit.of(await browser.new_context(**GERMAN), server)
        await visit.register(new_name())
        await visit.press("faucet")
        await visit.told("Die Test-USDC sind da.")
        await visit.page.locator('[data-name="balances"]', has_text=RECEIVED).wait_for()
        await visit.page.get_by_text(RECEIVED).nth(1).wait_for()  # under Activity
        await visit.shoot("vault-faucet-given")
        # A person who wants to pay more than they have gets it there, and goes on.
        await visit.press("send")
        await visit.submit(to=world.facts["testAccount"]["address"], amount="150")
        await visit.press("faucet", then="send-review")
