"""The client in a real Chromium on the service's own origin: passkey, vault in the worker, registration by handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser
    from tests.support.serving import Server


async def test_a_passkey_a_vault_and_a_handle(browser: Browser, serve: Callable[..., Server]) -> None:
    page = await new_page(browser, serve())
    await Authenticator.of(page)
    status = await page.evaluate(CLIENT, {})
    assert status["enclave"] is True and status["ready"] is False
    made = await page.evaluate(MAKE, {"name": "alice", "options": {}})
    assert made["did"].startswith("did:new:0x")
    assert made["fields"] == ["credential", "credentialId"]
    registered = await outcome(page, "return client.register({handle: 'alice'})")
    assert registered["value"]["did"] == made["did"], registered
    found = await page.evaluate("(credentialId) => client.lookupDid({credentialId})", made["credentialId"])
    assert found["identifier"] == "alice"
    locked = await page.evaluate("client.vault.lock()")
    assert locked["success"] is True and isinstance(locked["database"], list)
    opened = await outcome(page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()))")
    assert opened["value"] == {"success": True, "did": made["did"]}
