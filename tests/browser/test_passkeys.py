"""Passkeys of a virtual authenticator open the vault. How ceremonies fail is tested in browser/test/passkeys.test.js."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.passkeys import CLIENT, Authenticator, outcome

if TYPE_CHECKING:
    from playwright.async_api import Page


async def refused(page: Page, code: str) -> dict[str, Any]:
    """Return the WebAuthnError with which the ceremony failed."""
    seen = await outcome(page, code)
    assert seen.get("name") == "WebAuthnError" and seen["isServiceError"], seen
    return seen


@pytest.mark.soak  # browser/test/passkeys.test.js maps the browser's errors in the gate
async def test_each_refusal_has_its_reason(page: Page, authenticator: Authenticator) -> None:
    made = await outcome(page, "return hf.createPasskey({userName: 'ada'})")
    credential = made["value"]["credentialId"]
    excluded = f"""
      const raw = Uint8Array.from(atob("{credential}".replaceAll("-", "+").replaceAll("_", "/")), (it) => it.charCodeAt(0));
      return hf.createPasskey({{excludeCredentials: [{{id: raw, type: "public-key"}}]}});
    """
    seen = await refused(page, excluded)
    assert (seen["reason"], seen["cause"]) == ("excluded", "InvalidStateError")
    seen = await refused(page, "return hf.createPasskey({rpId: 'elsewhere.example'})")
    assert (seen["reason"], seen["cause"]) == ("wrong_origin", "SecurityError")
    seen = await refused(page, "return hf.usePasskey({credentialIds: ['AAAA']})")
    assert (seen["reason"], seen["cause"]) == ("cancelled", "NotAllowedError")
    seen = await refused(page, "return hf.usePasskey({signal: AbortSignal.abort()})")
    assert (seen["reason"], seen["cause"]) == ("aborted", "AbortError")
    await authenticator.send("setUserVerified", isUserVerified=False)
    seen = await refused(page, "return hf.usePasskey()")
    assert (seen["reason"], seen["cause"]) == ("cancelled", "NotAllowedError")


async def test_a_passkey_is_added_everywhere_and_removed_again(page: Page, authenticator: Authenticator) -> None:
    did, first = await a_vault_of_whose_passkey_no_secret_is_seen(page)
    handle = f"h{secrets.token_hex(5)}"
    assert "value" in await outcome(page, f"return client.register({{handle: '{handle}'}})")
    seen = await refused(page, f"return client.addPasskey({{userName: '{handle}'}})")
    assert seen["reason"] == "excluded", "the same authenticator holds one already"
    await authenticator.remove()
    await authenticator.add(transport="usb")
    asked = f"return client.addPasskey({{userName: '{handle}', deviceName: 'Key', hints: ['security-key']}})"
    added = (await outcome(page, asked))["value"]
    assert added["registered"] is True
    found = await outcome(page, f"return client.lookupDid({{credentialId: '{added['credentialId']}'}})")
    assert (found["value"]["did"], found["value"]["identifier"]) == (did, handle)
    listed = (await outcome(page, "return (await client.vault.query()).credentials"))["value"]
    assert [it["device_name"] for it in listed] == ["", "Key"]
    await page.evaluate("client.vault.lock()")
    opened = await outcome(page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()))")
    assert opened["value"] == {"success": True, "did": did}
    await only_this_passkey_is_left(page, first, added["credentialId"])
    assert len(await authenticator.credentials()) == 1
    await authenticator.remove()
    await authenticator.add(hasPrf=False)
    assert (await refused(page, "return client.addPasskey()"))["reason"] == "no_prf"
    assert await authenticator.credentials() == [], "a passkey that opens nothing is not left behind"
    await without_prf_a_password_opens_the_vault(page, did, added["credentialId"])


async def a_vault_of_whose_passkey_no_secret_is_seen(page: Page) -> tuple[str, str]:
    """Make a vault; return its DID and the passkey's ID. What the ceremonies return contains no secret."""
    seen = await outcome(page, """
      const results = [];
      const read = PublicKeyCredential.prototype.getClientExtensionResults;
      PublicKeyCredential.prototype.getClientExtensionResults = function () {
        const found = read.call(this);
        if (found.prf?.results?.first) results.push([...new Uint8Array(found.prf.results.first)]);
        return found;
      };
      const made = await hf.createPasskey();
      const used = await hf.usePasskey();
      const key = await hf.passkeyKey(used);
      const {did} = await client.vault.generate({credential: made.credential}, key);
      return {texts: [JSON.stringify(made), JSON.stringify(used), atob(made.credential), atob(used.assertion)], did,
              results, left: key.secret.byteLength, again: (await hf.passkeyKey(made)).kind, id: made.credentialId};
    """.replace("const results", f"await ({CLIENT})({{}}); const results"))  # fmt: skip
    value = seen.get("value")
    assert value, seen
    assert value["left"] == 0, "the secret's buffer has moved into the worker"
    assert len(value["results"]) == 2 and value["results"][0] == value["results"][1]
    for text in value["texts"]:
        assert "prf" not in text and "results" not in text
    return value["did"], value["id"]


async def only_this_passkey_is_left(page: Page, first: str, second: str) -> None:
    """Remove the first passkey; the second, which is the last, cannot be removed."""
    gone = await outcome(page, f"return client.removePasskey('{first}')")
    # The service's DID is not that of its address, and this page does not name it.
    assert gone["value"] == {"isNotified": True, "takenBack": False}
    left = await outcome(
        page, "return [(await client.vault.keys()).wraps, (await client.vault.query()).credentials.length]"
    )
    assert left["value"] == [[{"kind": "prf", "id": second}], 1]
    for remove in (f"client.removePasskey('{second}')", f"client.vault.removeKey('prf', '{second}')"):
        last = await outcome(page, f"return {remove}")
        assert (last["name"], last["code"]) == ("PluginCallError", "last_wrap")


async def without_prf_a_password_opens_the_vault(page: Page, did: str, passkey: str) -> None:
    seen = await refused(page, "return hf.passkeyKey(await hf.createPasskey())")
    assert seen["reason"] == "no_prf" and "password" in seen["message"]
    made = await outcome(page, f"""
      await client.vault.addKey({{kind: "password", password: "correct horse"}});
      await client.vault.removeKey("prf", "{passkey}");
      await client.vault.lock();
      const wrong = await client.vault.unlock({{kind: "password", password: "wrong horse"}});
      const right = await client.vault.unlock({{kind: "password", password: "correct horse"}});
      return {{wrong, right, keys: await client.vault.keys()}};
    """)  # fmt: skip
    assert made["value"]["wrong"] == {"success": False, "error": "wrong_key"}, made
    assert made["value"]["right"] == {"success": True, "did": did}
    assert [wrap["kind"] for wrap in made["value"]["keys"]["wraps"]] == ["password"]
