"""Each way in which a WebAuthn ceremony can fail has a distinct reason, with the browser's error as the cause."""

from __future__ import annotations

import base64
import hashlib
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


async def test_time_tells_a_timeout_from_a_refusal(page: Page, authenticator: Authenticator) -> None:
    await authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    seen = await refused(page, "return hf.createPasskey({timeout: 700})")
    assert (seen["reason"], seen["cause"]) == ("timed_out", "NotAllowedError")
    assert "in time" in seen["message"]


async def test_a_second_prompt_is_busy_and_a_withdrawn_one_is_aborted(page: Page, authenticator: Authenticator) -> None:
    await authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    await page.evaluate("""() => {
      window.end = new AbortController();
      window.first = hf.createPasskey({timeout: 30000, signal: end.signal}).catch((error) => error.reason);
    }""")
    seen = await refused(page, "return hf.createPasskey({timeout: 30000})")
    assert (seen["reason"], seen["cause"]) == ("busy", "OperationError")
    assert await page.evaluate("() => { end.abort(); return first; }") == "aborted"


@pytest.mark.usefixtures("authenticator")
async def test_algorithms_that_the_enclave_does_not_verify_are_refused(page: Page) -> None:
    seen = await outcome(page, "return hf.createPasskey({algorithms: [-8]})")
    assert "value" in seen  # EdDSA is an accepted algorithm
    await page.evaluate("() => { AuthenticatorAttestationResponse.prototype.getPublicKeyAlgorithm = () => -47; }")
    seen = await refused(page, "return hf.createPasskey()")
    assert seen["reason"] == "no_algorithm" and "-47" in seen["message"]
    await page.evaluate("""() => {
      navigator.credentials.create = async () => { throw new DOMException("none", "NotSupportedError"); };
    }""")
    seen = await refused(page, "return hf.createPasskey()")
    assert (seen["reason"], seen["cause"]) == ("no_algorithm", "NotSupportedError")


@pytest.mark.usefixtures("authenticator")
async def test_an_authenticator_that_fails_on_prf_is_asked_once_more_without(page: Page) -> None:
    await page.evaluate("""() => {
      window.asked = [];
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = async (options) => {
        asked.push("prf" in options.publicKey.extensions);
        if (asked.length === 1) throw new DOMException("failed", "UnknownError");
        return create(options);
      };
    }""")
    assert "value" in await outcome(page, "return hf.createPasskey()")
    assert await page.evaluate("asked") == [True, False]
    await page.evaluate("""() => {
      navigator.credentials.create = async () => { throw new DOMException("failed", "UnknownError"); };
    }""")
    assert (await refused(page, "return hf.createPasskey()"))["reason"] == "failed"


async def test_autofill_waits_and_gives_way(page: Page, authenticator: Authenticator) -> None:
    assert "value" in await outcome(page, "window.passkey = await hf.createPasskey(); return 1")
    seen = await outcome(page, "return hf.usePasskey({mediation: 'conditional'})")
    assert seen["value"]["hasKey"] is True
    assert seen["value"]["credentialId"] == await page.evaluate("passkey.credentialId")
    await authenticator.send("clearCredentials")
    # A virtual authenticator responds to an autofill request at once, but a real browser waits, so this fake waits too.
    seen = await outcome(page, """
      let asked;
      const asking = new Promise((resolve) => { asked = resolve; });
      navigator.credentials.get = ({signal}) => asked() ?? new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      const waiting = hf.usePasskey({mediation: "conditional"}).catch((error) => error.reason);
      await asking;
      const made = await hf.createPasskey();
      return [await waiting, Object.keys(made)];
    """)  # fmt: skip
    assert seen["value"] == ["aborted", ["credential", "credentialId"]]


async def test_capabilities_and_signals(page: Page) -> None:
    assert await page.evaluate("hf.getDeviceCapabilities()") == {
        "webAuthnSupported": True, "platformAuthAvailable": False, "conditionalMediationAvailable": True,
    }  # fmt: skip
    authenticator = await Authenticator.of(page)
    assert (await page.evaluate("hf.getDeviceCapabilities()"))["platformAuthAvailable"] is True
    made = await outcome(page, "return hf.createPasskey({userHandle: new Uint8Array(32).fill(7), userName: 'old'})")
    handle = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"
    renamed = await page.evaluate(
        f"hf.signalCurrentUserDetails({{userId: '{handle}', name: 'new', displayName: 'New'}})"
    )
    credentials = await authenticator.credentials()
    assert renamed is True and [it["userName"] for it in credentials] == ["new"]
    assert await page.evaluate("(id) => hf.signalUnknownCredential(id)", made["value"]["credentialId"]) is True
    assert await authenticator.credentials() == []
    await page.evaluate("delete PublicKeyCredential.signalUnknownCredential")
    assert await page.evaluate("hf.signalUnknownCredential('AAAA')") is False
    await authenticator.session.detach()


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


async def test_a_long_credential_id_has_a_short_name_in_the_vault(page: Page) -> None:
    names = await page.evaluate("Promise.all([hf.keyId('A'.repeat(128)), hf.keyId('A'.repeat(200))])")
    digest = base64.urlsafe_b64encode(hashlib.sha256(bytes(150)).digest()).decode().rstrip("=")
    assert names == ["A" * 128, f"sha256:{digest}"]


async def test_a_browser_without_passkeys_is_told_so(page: Page) -> None:
    await page.evaluate("delete window.PublicKeyCredential")
    seen = await refused(page, "return hf.createPasskey()")
    assert seen["reason"] == "unsupported"
    assert await page.evaluate("hf.getDeviceCapabilities()") == {
        "webAuthnSupported": False, "platformAuthAvailable": False, "conditionalMediationAvailable": False,
    }  # fmt: skip
