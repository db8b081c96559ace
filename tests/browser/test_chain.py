"""A page registers a handle as an alias on a real local chain, and makes payments that are checked on the chain."""

from __future__ import annotations

import asyncio
import secrets
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.support.passkeys import CLIENT, MAKE, Authenticator, answer_rpc, new_page, outcome

from holdfast.client.flows.operations import STATE_AGE_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, Page
    from tests.support.chain_service import ChainService
    from tests.support.serving import Server

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"


# Records the pauses between polls instead of waiting; the receipt is available on the 25th attempt.
LOOKS = """async () => {
  const {Bundler} = await import("/client/chain/bundler.js");
  const pauses = [];
  window.setTimeout = (work, ms) => { pauses.push(ms); queueMicrotask(work); };
  const receipt = {userOpHash: "0x1", success: true, receipt: {transactionHash: "0x2", blockNumber: "0x3"}};
  let looks = 0;
  await new Bundler({bundler: async () => (++looks < 25 ? null : receipt)}, "0x").wait("0x1");
  return pauses;
}"""


async def test_a_receipt_is_looked_for_often_at_first_and_seldom_later(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    pauses = await (await new_page(browser, serve(), unbuilt=True)).evaluate(LOOKS)
    assert len(pauses) == 24 and max(pauses[:19]) <= 150 and min(pauses[19:]) == 1000


async def opened(browser: Browser, chain: ChainService) -> Page:
    page = await new_page(browser, SimpleNamespace(port=urlsplit(chain.base_url).port))
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    return page


async def test_a_handle_is_registered_on_the_chain_and_pays(browser: Browser, chain: ChainService) -> None:
    page = await opened(browser, chain)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    handle = "h" + secrets.token_hex(6)
    registered = await outcome(
        page, f"return client.register({{handle: '{handle}', onProgress: (it) => events.push(it)}})"
    )
    record = registered.get("value")
    assert record, registered
    assert chain.receipt(record["txHash"]) is not None
    assert record["smartAccount"] == await page.evaluate("client.account().then(({address}) => address)")
    events = [event for event in await page.evaluate("events") if isinstance(event, str)]
    assert events == ["session", "sent to the chain", "on the chain", "registered"]
    chain.give(record["smartAccount"], 5_000_000)
    params = f"{{to: '{PAYEE}', amount: '1250000', token: '{chain.usdc}', chainId: 84532}}"
    before = chain.usdc_of(PAYEE)
    paid = await outcome(page, f"return client.pay({params})")
    assert chain.usdc_of(PAYEE) - before == 1_250_000, paid
    # What does not change is requested once, although several steps need it; what can be computed is not requested.
    assert [asked.count(path) for path in ("/api/accounts/predict", "/api/contracts")] == [0, 1]
    result = paid["value"]
    assert result["txHash"] == result["userOpHash"]
    assert result == {
        "txHash": result["userOpHash"], "userOpHash": result["userOpHash"], "chain": 84532, "token": chain.usdc,
        "explorerUrl": f"https://base-sepolia.blockscout.com/op/{result['userOpHash']}",
    }  # fmt: skip
    another = await opened(browser, chain)
    assert (await outcome(another, f"return client.register({{handle: '{handle}'}})"))["code"] == "identifier_taken"
    to_did = await outcome(another, f"return client.pay({params.replace(PAYEE, 'did:new:0x' + '11' * 32)})")
    assert (to_did["name"], to_did["code"]) == ("PaymentRefused", "payee_unregistered"), to_did


async def test_a_payment_to_a_did_and_under_a_delegation(browser: Browser, chain: ChainService) -> None:
    page, shop = await opened(browser, chain), await opened(browser, chain)
    for one in (page, shop):
        assert "value" in (await outcome(one, f"return client.register({{handle: 'h{secrets.token_hex(6)}'}})"))
    payee = await outcome(
        shop, "return {did: (await client.vault.status()).did, address: (await client.account()).address}"
    )
    did, address = payee["value"]["did"], payee["value"]["address"]
    account = (await outcome(page, "return (await client.account()).address"))["value"]
    chain.give(account, 5_000_000)
    await asyncio.sleep(STATE_AGE_S)
    paid = await outcome(
        page, f"return client.pay({{to: '{did}', amount: '7', token: '{chain.usdc}', chainId: 84532}})"
    )
    assert chain.usdc_of(address) == 7, paid
    token = """
      const own = (await client.vault.call("did_key", {curve: "P-256", public_key:
        (await client.vault.exec("resource:enclaves action:list")).result[0].public_key})).did;
      const {container} = await client.vault.delegate({to: own, command: "/accounts/pay", policy: [["<=", ".total", 10]]});
    """
    pay = f"return client.pay({{to: '{address}', amount: '6', token: '{chain.usdc}', chainId: 84532, ucan: container}})"
    first = await outcome(page, f"{token} window.container = container; {pay}")
    assert "value" in first, first
    second = await outcome(page, f"{pay}")
    assert (second["name"], second["code"]) == ("PaymentRefused", "policy_denied"), second
    assert chain.usdc_of(address) == 13


async def test_an_account_pays_for_gas_itself_up_to_its_limit(browser: Browser, chain: ChainService) -> None:
    page = await opened(browser, chain)
    registered = await outcome(page, f"return client.register({{handle: 'h{secrets.token_hex(6)}'}})")
    account = registered["value"]["smartAccount"]
    chain.give(account, 5_000_000)
    pay = f"client.pay({{to: '{PAYEE}', amount: '1250000', token: '{chain.usdc}', chainId: 84532}})"

    gas = f"sponsored: false, rpcUrl: '{await answer_rpc(page, chain)}'"
    own = f"client.gas = {{{gas}}}; return {pay}"
    before = chain.usdc_of(PAYEE)
    chain.fund(account, 10**18)
    await asyncio.sleep(STATE_AGE_S)
    strict = await outcome(page, f"client.gas = {{{gas}, maxOwnCostWei: 1n}}; return {pay}")
    assert strict["name"] == "GasTooDear" and "more than the account may pay" in strict["message"], strict
    assert chain.usdc_of(PAYEE) == before
    paid = await outcome(page, own)
    assert "value" in paid, paid
    assert chain.usdc_of(PAYEE) - before == 1_250_000
    assert 0 < 10**18 - chain.coin_of(account) < 10**16


async def test_an_empty_account_that_pays_is_told_what_it_lacks(browser: Browser, chain: ChainService) -> None:
    page = await opened(browser, chain)

    rpc = await answer_rpc(page, chain)
    pay = """
      client.gas = {sponsored: SPONSORED, rpcUrl: "RPC"};
      return client.pay({to: "PAYEE", amount: "5", token: "TOKEN", chainId: 84532})
        .catch(({name, token, balance, needed, message}) => /0x[0-9a-f]{41,}/i.test(message) || [name, token, String(balance), String(needed)]);
    """.replace("RPC", rpc).replace("PAYEE", PAYEE)
    for sponsored in ("true", "false"):
        of_usdc = await outcome(page, pay.replace("SPONSORED", sponsored).replace("TOKEN", chain.usdc))
        assert of_usdc.get("value") == ["AccountNotFunded", chain.usdc, "0", "5"], of_usdc
        of_coin = await outcome(page, pay.replace("SPONSORED", sponsored).replace("TOKEN", "native"))
        name, token, balance, needed = of_coin["value"]
        assert (name, token, balance) == ("AccountNotFunded", "native", "0") and int(needed) >= 5, of_coin
    account = (await outcome(page, "return (await client.account()).address"))["value"]
    chain.give(account, 5)
    of_fee = await outcome(page, pay.replace("SPONSORED", "false").replace("TOKEN", chain.usdc))
    name, token, balance, needed = of_fee["value"]
    assert (name, token, balance) == ("AccountNotFunded", "native", "0") and int(needed) > 5, of_fee
