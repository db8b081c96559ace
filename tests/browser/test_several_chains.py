"""A page pays from one account on two local chains, one of which has the ID of Base."""

import asyncio

import pytest
from tests.support.page_visits import person
from tests.support.passkeys import outcome, page_with_vault
from tests.support.two_chains import BASE, TEST

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"


@pytest.mark.soak  # tests/client/flows/test_several_chains.py pays in the gate
async def test_one_account_pays_on_two_chains(browser, both, chain, base):
    page = await page_with_vault(browser, both.server)
    account = (await outcome(page, "return (await client.account()).address"))["value"]
    for place, chain_id, amount in ((chain, TEST, 1), (base, BASE, 20), (base, BASE, 3)):
        place.give(account, amount)
        before = place.usdc_of(PAYEE)
        params = f"{{to: '{PAYEE}', amount: '{amount}', token: '{place.usdc}', chainId: {chain_id}}}"
        paid = await outcome(page, f"return client.pay({params})")
        assert place.usdc_of(PAYEE) - before == amount, paid
        explorer = {TEST: "https://base-sepolia.blockscout.com", BASE: "https://base.blockscout.com"}[chain_id]
        assert paid["value"]["explorerUrl"] == f"{explorer}/op/{paid['value']['userOpHash']}"
        assert paid["value"]["chain"] == chain_id
    refused = await outcome(page, f"return client.pay({{to: '{PAYEE}', amount: '1', token: 'native', chainId: 1}})")
    assert "chainId: this service pays on chain 84532, not on 1" in str(refused)
    await page.context.close()


@pytest.mark.soak  # tests/client/flows/test_account_commands.py names chains that are left in the gate
async def test_a_change_of_keys_is_done_on_both_chains_or_says_which_is_left(browser, both, chain, base):
    visit, _, account = await person(await browser.new_context(), both)
    await visit.press("keys", then="keys")
    await visit.page.route(
        "**/api/bundler/8453", lambda route: route.fulfill(status=503, json={"error": "bundler_error"})
    )
    await visit.press("add-passkey")
    await visit.page.locator('[data-chain="Base Sepolia"][data-state="done"]').wait_for()
    left = visit.page.locator('[data-chain="Base"][data-state="left"]')
    await left.wait_for()
    assert [owners(place, account) for place in (chain, base)] == [2, 0]
    await visit.inspect("keys-one-chain-left")
    await visit.page.unroute("**/api/bundler/8453")
    await visit.press("again", status="Changed on Base Sepolia, Base.")
    assert [owners(place, account) for place in (chain, base)] == [2, 2]
    # A lost passkey is revoked on both chains by one signature.
    await visit.press("remove-owner", '[data-card="owners"] li:nth-child(2)')
    await visit.press("yes", "dialog", status="Changed on Base Sepolia, Base.")
    assert [owners(place, account) for place in (chain, base)] == [1, 1]
    assert visit.complaints == []
    await visit.page.context.close()


def owners(chain, account):
    """Return how many owners an account has; 0 where it does not exist."""
    if chain.rpc("eth_getCode", account, "latest") == "0x":
        return 0
    return int.from_bytes(chain.call(account, "accountSettings()")[64:96])


@pytest.mark.soak  # test_page_send.py pays on the test network in the gate
async def test_a_person_registers_and_sends_on_the_pages_of_a_chain_with_real_money(browser, base):
    visit, _, account = await person(browser, base)
    base.give(account, 20_000_000)
    await asyncio.sleep(2.1)  # the service keeps a balance for two seconds
    await visit.press("refresh")
    await visit.told("20.00\u00a0USDC")
    assert "without value" not in await visit.text("body")
    before = base.usdc_of(PAYEE)
    await visit.press("send", then="send")
    await visit.submit(to=PAYEE, amount="12.50", then="send-review")
    assert "Base (8453)" in await visit.text("main")
    await visit.press("confirm", then="send-done")
    assert base.usdc_of(PAYEE) - before == 12_500_000
    href = await visit.page.locator("a.button").get_attribute("href")
    assert href is not None and href.startswith("https://base.blockscout.com/op/0x")
    assert visit.complaints == []
