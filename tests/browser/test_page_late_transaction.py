"""A person registered at a service without a bundler; later it has one, and the registration comes onto the chain."""

import pytest
from tests.support.page_visits import Visit, new_name

pytestmark = pytest.mark.timeout(300)
CARD = '[data-card="identity"]'
OFF = "At this service only. It is not on a chain"


@pytest.mark.soak  # vectors/flows/register_later.json and tests/service/operations/test_late_transactions.py in the gate
async def test_the_page_puts_a_registration_onto_the_chain(browser, chain, serve):
    before = serve(rpc_url=chain.rpc_url)
    visit, name = await Visit.of(browser, before), new_name()
    await visit.register(name)
    await visit.told(OFF, CARD)
    assert not await visit.page.locator('[data-name="onto-chain"]').is_visible(), "the service has no bundler"
    before.stop()
    visit.server = serve(before.data, port=before.port, rpc_url=chain.rpc_url, bundler_url=chain.bundler_url)
    await visit.open("/vault", then="home")
    await visit.told(OFF, CARD)
    await visit.press("onto-chain")
    await visit.page.get_by_text(OFF).wait_for(state="detached")
    assert name in await visit.text(CARD)
    assert await visit.page.locator('[data-name="onto-chain"]').count() == 0
    assert visit.complaints == []
