"""A page registers a handle as an alias on a real local chain, and makes payments that are checked on the chain."""

import asyncio
import secrets
from functools import partial
from urllib.parse import urlsplit

from tests.support.passkeys import outcome, page_with_vault
from tests.support.signature_verifiers import needs_viem, verified

PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"


async def test_a_handle_is_registered_on_the_chain_and_pays(browser, chain):
    page = await page_with_vault(browser, chain.server)
    asked = []
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


@needs_viem
async def test_the_account_signs_for_others_before_it_exists(browser, chain):
    page = await page_with_vault(browser, chain.server)
    told = await outcome(
        page,
        """
        const account = await client.account();
        const data = {separator: "0x" + "5e".repeat(32), contents: "0x" + "c0".repeat(32), type: "Mail(string text)"};
        const wrong = await account.signTypedData({...data, type: ""}).catch(({name}) => name);
        return {address: account.address, text: await account.signText("Grüße"), wrong};
        """,
    )
    assert "value" in told, told
    value = told["value"]
    assert value["wrong"] == "TypeError"
    by = partial(asyncio.to_thread, verified, chain.rpc_url, value["address"], value["text"])
    assert await by(text="Grüße") == (True, False)
    assert await by(text="another") == (False, False)
