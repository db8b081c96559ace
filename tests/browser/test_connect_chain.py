"""An app on another origin asks for the account and for a permission to pay, on a local chain."""

import secrets
import time

from tests.support.connecting_apps import allow, asking, clicked, registered, told
from tests.support.page_visits import Visit

PAYER = "did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA"
LIMIT = "12500000"
MOST_MODULES = 40


def wanted():
    return {"account": True, "delegate": {"to": PAYER, "limit": LIMIT, "expires": int(time.time()) + 86_400}}


async def asked(context, app, chain):
    """Return the app's page and the window that a click on it opened."""
    page = await asking(context, app, chain.server, wanted())
    return page, await clicked(page, chain.server)


async def is_given(browser, window, result):
    """Assert in a new browser profile that the permission is valid, comes from this person and has the limits shown."""
    path = f"/vault#permission={result['delegation']['container']}"
    other = await Visit.of(await browser.new_context(), window.server, path)
    await other.screen("received")
    assert f"{PAYER} may ask for up to 12.50 USDC until" in await other.text('[data-name="sentence"]')
    assert result["did"] in await other.text("main")


async def test_account_and_permission_are_shown_and_given(browser, chain, app):
    context = await browser.new_context()
    names = []
    context.on("request", lambda request: names.append(request.url.partition("/client/")[2]))
    page, window = await asked(context, app, chain)
    await registered(window, f"h{secrets.token_hex(5)}")
    shown = await window.text("main")
    assert "wants your identity, and to ask you for payments" in shown
    assert "12.50\u00a0USDC" in shown and PAYER in shown
    assert "cannot spend anything" not in shown
    account = (await window.text('[data-name="account"]')).replace(" ", "")
    await window.inspect("connect-consent-delegate")
    await allow(window)
    result = (await told(page))["result"]
    assert window.complaints == []
    assert result["account"] == {"address": account, "chainId": 84532}
    assert set(result) == {"did", "account", "delegation"}
    await is_given(browser, window, result)
    assert {"pages/connect.js", "holdfast.js", "worker.js"} <= set(names), "the window ran the build"
    assert len(set(names)) < MOST_MODULES, set(names)
