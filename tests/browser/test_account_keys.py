"""An account through the JavaScript client, on the local chain: a permission to spend, and signatures for others."""

import asyncio
import json
from functools import partial

import pytest
from tests.support.passkeys import answer_rpc, outcome, page_with_vault
from tests.support.paying import PAYEE, Person
from tests.support.signature_verifiers import needs_viem, verified

pytestmark = pytest.mark.timeout(300)


async def with_endpoint(browser, chain):
    person = await Person.unregistered(browser, chain)
    await person.page.evaluate("(rpcUrl) => { client.gas = {rpcUrl}; }", await answer_rpc(person.page, chain))
    return person


async def does(person, code, account=None):
    """Return the result of code that uses `keys`, an account's keys, as a person's application would."""
    named = json.dumps(account) if account else ""
    told = await outcome(person.page, f"const keys = await client.accountKeys({named}); {code}")
    return told.get("value", told)


async def test_an_app_spends_by_a_permission_and_no_further(browser, chain):
    owner, app = [await with_endpoint(browser, chain) for _ in range(2)]
    chain.give(owner.account, 9_000)
    spending = "const spending = await client.accountSpending();"
    terms = f"{{to: '{app.did}', token: '{chain.usdc}', allowance: 5000n, period: 3600, payee: '{PAYEE.lower()}'}}"
    allowed = await does(owner, f"{spending} return spending.allow(await spending.proposed({terms}))")

    def spent(amount, to=PAYEE):
        return f"{spending} return spending.spend('{allowed['container']}', {{to: '{to}', amount: {amount}n}})"

    before = chain.usdc_of(PAYEE)
    assert len(await does(app, spent(2_000))) == 66
    assert len(await does(app, spent(2_000))) == 66
    assert chain.usdc_of(PAYEE) - before == 4_000
    told = "return (await spending.list()).map((it) => [it.id, it.to, it.cid, Number(it.spent), Number(it.left)])"
    listed = [allowed["permissionId"], app.did, allowed["cid"], 4_000, 1_000]
    assert await does(owner, spending + told) == [listed]
    beyond, elsewhere = await does(app, spent(1_001)), await does(app, spent(1, owner.account))
    assert (beyond["code"], beyond["message"]) == ("permission", "1000 of the permission are left in this period")
    assert (elsewhere["name"], "does not allow" in elsewhere["message"]) == ("PaymentRefused", True)
    end = f"{spending} return spending.end('{allowed['permissionId']}')"
    assert len(await does(owner, end)) == 66
    assert await does(owner, end) is None
    assert "was revoked" in (await does(app, spent(1)))["message"]


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
