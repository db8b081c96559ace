"""The client in a real Chromium on the service's own origin: passkey, vault in the worker, registration by handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome
from tests.support.serving import Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser


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


async def test_the_vault_signs_ipns_records_with_its_publishing_key(
    browser: Browser,
    serve: Callable[..., Server],
) -> None:
    page = await new_page(browser, serve())
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    await page.evaluate(MAKE, {"name": "alice", "options": {}})
    told = await outcome(
        page,
        """const key = await client.vault.publishingKey();
        const root = "bafyreic7dsdhfxj6dvvtewz7jyvjztihnt776tbmhpocaq6fh4sheyzfrq";
        const made = await client.vault.publish(root, 1, "2090-01-01T00:00:00.000000000Z", 60000000000n);
        const bound = await client.vault.publishingDelegation();
        const claims = await client.vault.verifyUcan(bound.container, { audience: key.did, command: "/snapshots/publish" });
        const token = await client.vault.invoke({ command: "/snapshots/write", audience: "did:web:keep.example", record: false });
        const imported = await crypto.subtle.importKey(
          "raw", Uint8Array.from(key.public_key.match(/../g), (pair) => parseInt(pair, 16)), "Ed25519", false, ["verify"]);
        const signed = new Uint8Array([...new TextEncoder().encode("ipns-signature:"), ...made.record.slice(69)]);
        const verifies = await crypto.subtle.verify("Ed25519", imported, made.record.slice(2, 66), signed);
        return { key, name: made.name, bytes: made.record instanceof Uint8Array, verifies, claims, token };""",
    )
    value = told["value"]
    assert value["key"]["pending"] is False
    assert value["name"] == value["key"]["name"]
    assert (value["bytes"], value["verifies"]) == (True, True)
    assert (value["claims"]["valid"], value["claims"]["audience"]) == (True, value["key"]["did"])
    assert value["token"]["container"].startswith("C")
