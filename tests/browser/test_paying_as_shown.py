"""The payment window pays what it shows, and says what becomes of it, whatever changes between sheet and signature."""

import asyncio
import threading

import pytest
from tests.support.page_visits import Visit
from tests.support.passkeys import outcome
from tests.support.paying import ADD_KEY, CAN_APPROVE, LOCKED, PAYEE, Person, unlocked
from tests.support.paymasters import Bundler, failure
from tests.support.payment_window import Held
from tests.support.serving import PATIENCE_S

pytestmark = [pytest.mark.whole_browser, pytest.mark.soak]  # test_paying.py pays in the gate
PASSWORD = "correct horse battery staple"
# The newest snapshot that the servers have acknowledged.
COPY = "client.snapshots().then((it) => it.state()).then((it) => it.acknowledgedRoot)"


async def ready(person, window):
    """Let the window's passkey open the vault; wait until fee and button are there."""
    await person.passkey_in(window)
    await window.shows("document.getElementById('fee').textContent.includes('sponsor')")
    await window.shows(CAN_APPROVE)


@pytest.mark.soak  # test_connect.py waits for the first copy in the gate
async def test_the_shop_hears_of_the_payment_after_the_vaults_first_copy(browser, chain, shop):
    context = await browser.new_context()
    await context.route("**/api/v0/dag/import*", lambda route: route.abort())  # of the page, not of the window
    person = await Person.registered(browser, chain, context)
    chain.give(person.account, 20_000_000)
    assert await person.page.evaluate(COPY) is None
    window, told = await person.asked(shop)
    await ready(person, window)
    uploads = await Held.of(window, "dag/import")
    await window.click("approve")
    uploaded = asyncio.create_task(uploads.reached.wait())
    done, _ = await asyncio.wait({uploaded, told}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    assert done == {uploaded}, "the window closes as soon as the shop knows"
    assert await window.evaluate("document.body.innerText.includes('Finishing')")
    uploads.released.set()
    assert "txHash" in await asyncio.wait_for(told, PATIENCE_S)
    assert await person.page.evaluate(COPY) is not None


class LateBundler(Bundler):
    """The local world's bundler; once armed, it refuses the first request for a sponsor, after the next was sent."""

    armed = False

    def __init__(self, chain):
        super().__init__(chain)
        self.fee_asked, self.sent = threading.Event(), threading.Event()

    def pm_sponsorUserOperation(self, request):  # noqa: N802 - the method's name
        if not self.armed:
            return self.forwarded(request)
        self.armed = False
        self.fee_asked.set()
        self.sent.wait(PATIENCE_S)
        return failure(request, -32500, "refused too late")

    def eth_sendUserOperation(self, request):  # noqa: N802 - the method's name
        self.sent.set()
        return self.forwarded(request)


@pytest.mark.soak  # vectors/flows lose fees in the gate
async def test_a_fee_that_could_not_be_found_out_does_not_end_a_payment_under_way(
    browser, chain, shop, tmp_path_factory
):
    bundler = LateBundler(chain)
    with bundler.served() as url:
        late = chain.another(tmp_path_factory.mktemp("late") / "data", url)
        person = await Person.registered(browser, late)
        chain.give(person.account, 20_000_000)
        bundler.sent.clear()  # it was set by the registration
        before, bundler.armed = chain.usdc_of(PAYEE), True
        window, told = await person.asked(shop)
        await person.passkey_in(window)
        await window.shows(CAN_APPROVE)
        # The request that is refused late has to be the fee's, not the payment's.
        assert await asyncio.to_thread(bundler.fee_asked.wait, PATIENCE_S)
        await window.click("approve")
        assert "txHash" in await asyncio.wait_for(told, PATIENCE_S)
    assert chain.usdc_of(PAYEE) - before == 12_500_000


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


@pytest.mark.soak  # registers twice on the chain for a list that only this window has
async def test_of_two_vaults_the_person_chooses_the_one_that_pays(browser, chain, shop):
    poor = await Person.registered(browser, chain)
    rich = await Person.registered(browser, chain, poor.context)
    chain.give(rich.account, 20_000_000)
    await rich.page.evaluate(LOCKED)
    # Saving a vault makes it the most recently used one.
    await poor.page.evaluate("client.vault.save()")
    await poor.page.evaluate(LOCKED)
    opened = await outcome(
        rich.page,
        f"return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()), null, {{did: '{rich.did}'}})",
    )
    window, told = await rich.asked(shop)
    key = await window.passkey()
    assert opened["value"]["success"]
    await rich.page.evaluate(ADD_KEY, key)
    await rich.page.evaluate(LOCKED)
    await window.shows("document.querySelectorAll('#vaults option').length === 2")
    choose = "(() => { const it = document.getElementById('vaults'); it.value = '%s'; it.dispatchEvent(new Event('change')); })()"
    await window.evaluate(choose % poor.did)
    await window.shows("document.getElementById('alert').textContent.includes('You have 0.00')")
    await window.shows("document.getElementById('receive') !== null")
    await window.evaluate(choose % rich.did)
    await window.shows("document.getElementById('alert').textContent === '' && !document.getElementById('receive')")
    await window.shows("document.getElementById('fee').textContent.includes('sponsor')")
    before = chain.usdc_of(PAYEE)
    await window.shows(CAN_APPROVE)
    held = await Held.of(window)
    await window.click("approve")
    await asyncio.wait_for(held.reached.wait(), PATIENCE_S)
    chosen = "document.getElementById('vaults').disabled && document.getElementById('vaults').value"
    assert await window.evaluate(chosen) == rich.did, "the window shows the one that pays"
    held.released.set()
    assert "txHash" in await asyncio.wait_for(told, PATIENCE_S)
    assert chain.usdc_of(PAYEE) - before == 12_500_000
    assert chain.usdc_of(rich.account) == 7_500_000
