"""The client in a real Chromium on the service's own origin: passkey, vault in the worker, registration by handle."""

from __future__ import annotations

import base64
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


async def test_strangers_credentials_stop_neither_a_registration_nor_a_second_passkey(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await new_page(browser, serve())
    authenticator = await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    await page.evaluate(MAKE, {"name": "alice", "options": {}})
    seen = await outcome(
        page,
        """
        const fetched = [];
        const crowd = async (did, ids) => {
          for (const credentialId of ids) {
            const body = JSON.stringify({identifier: "alice", channel: "handle", did, txHash: "0x00", credentialId});
            fetched.push((await fetch("/api/dids", {method: "POST", body})).status);
          }
        };
        const {did} = await client.vault.query();
        const send = client.registerDid.bind(client);
        client.registerDid = async (...asked) => {
          client.registerDid = send;
          await crowd(did, "abcdefghi");
          return send(...asked);
        };
        await client.register({handle: "alice"});
        return fetched;
        """,
    )
    assert seen.get("value") == [200] * 8 + [429], seen
    await authenticator.remove()
    await authenticator.add(transport="usb")
    added = await outcome(page, "return client.addPasskey({userName: 'alice', deviceName: 'Key'})")
    assert added.get("value", {}).get("registered") is True, added


async def test_a_handle_of_the_vaults_own_did_is_registered_again(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await new_page(browser, serve())
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    await page.evaluate(MAKE, {"name": "alice", "options": {}})
    registered = await outcome(page, """
        const {did} = await client.vault.query();
        await client.createSession({identifier: "alice", channel: "handle", did});
        await client.createSession({identifier: "bob", channel: "handle", did: "did:new:0x02"});
        const bob = await client.register({handle: "bob"}).catch((it) => it.code);
        return [bob, (await client.register({handle: "alice"})).did === did];
    """)  # fmt: skip
    assert registered.get("value") == ["identifier_taken", True], registered


async def test_the_passkeys_user_handle_is_the_vaults_publishing_key(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await new_page(browser, serve())
    authenticator = await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    before = await page.evaluate("client.vault.publishingKey()")
    assert before["pending"] is True
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    key = await page.evaluate("client.vault.publishingKey()")
    assert (key["public_key"], key["pending"]) == (before["public_key"], False)
    (credential,) = await authenticator.credentials()
    assert base64.b64decode(credential["userHandle"]).hex() == key["public_key"]
    used = await outcome(page, "await client.vault.lock(); return hf.usePasskey()")
    assert base64.urlsafe_b64decode(used["value"]["userHandle"] + "=").hex() == key["public_key"]


async def test_a_delegation_that_was_made_is_kept(browser: Browser, serve: Callable[..., Server]) -> None:
    page = await new_page(browser, serve())
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {"snapshots": False})  # a snapshot would also mint a delegation after 2 s
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    kept = await outcome(
        page,
        f"""
        const minted = await client.vault.delegate({{to: "did:key:zDnaeUKTWUXc1HDpGfKbEK31nKLN19yX5aunFd7VK1CUMeyJu", command: "/accounts/pay"}});
        const stored = await new hf.VaultStore().load("{made["did"]}");
        const {{revision}} = await client.vault.call("status");
        const listed = await client.vault.exec("resource:delegations action:list");
        return [stored.revision === revision, listed.result.length, Array.isArray(minted.signed_dag_cbor)];
        """,
    )
    assert kept.get("value") == [True, 1, True], kept
