"""A page pays from one account on two local chains, one of which has the ID of Base."""

import pytest
from tests.support.page_visits import person


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
