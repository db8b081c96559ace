"""Each way in which a WebAuthn ceremony can fail has a distinct reason, with the browser's error as the cause."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import pytest_asyncio
from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, Page
    from tests.support.serving import Server


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, serve: Callable[..., Server]) -> Page:
    return await new_page(browser, serve())


async def refused(page: Page, code: str) -> dict[str, Any]:
    """Return the WebAuthnError with which the ceremony failed."""
    seen = await outcome(page, code)
    assert seen.get("name") == "WebAuthnError" and seen["isServiceError"], seen
    return seen


async def test_each_refusal_has_its_reason(page: Page) -> None:
    authenticator = await Authenticator.of(page)
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


async def test_time_tells_a_timeout_from_a_refusal(page: Page) -> None:
    authenticator = await Authenticator.of(page)
    await authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    seen = await refused(page, "return hf.createPasskey({timeout: 700})")
    assert (seen["reason"], seen["cause"]) == ("timed_out", "NotAllowedError")
    assert "in time" in seen["message"]


async def test_a_second_prompt_is_busy_and_a_withdrawn_one_is_aborted(page: Page) -> None:
    authenticator = await Authenticator.of(page)
    await authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    await page.evaluate("""() => {
      window.end = new AbortController();
      window.first = hf.createPasskey({timeout: 30000, signal: end.signal}).catch((error) => error.reason);
    }""")
    seen = await refused(page, "return hf.createPasskey({timeout: 30000})")
    assert (seen["reason"], seen["cause"]) == ("busy", "OperationError")
    assert await page.evaluate("() => { end.abort(); return first; }") == "aborted"


async def test_algorithms_that_the_enclave_does_not_verify_are_refused(page: Page) -> None:
    await Authenticator.of(page)
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


async def test_an_authenticator_that_fails_on_prf_is_asked_once_more_without(page: Page) -> None:
    await Authenticator.of(page)
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


async def test_without_prf_a_password_locks_the_vault(page: Page) -> None:
    await Authenticator.of(page, hasPrf=False)
    await page.evaluate(CLIENT, {})
    await page.evaluate("async () => { window.passkey = await hf.createPasskey(); }")
    seen = await refused(page, "return hf.passkeyKey(passkey)")
    assert seen["reason"] == "no_prf" and "password" in seen["message"]
    made = await outcome(page, """
      const made = await client.vault.generate({credential: passkey.credential}, {kind: "password", password: "correct horse"});
      await client.vault.lock();
      const wrong = await client.vault.unlock({kind: "password", password: "wrong horse"});
      const right = await client.vault.unlock({kind: "password", password: "correct horse"});
      return {did: made.did, wrong, right, keys: await client.vault.keys()};
    """)  # fmt: skip
    assert made["value"]["wrong"] == {"success": False, "error": "wrong_key"}, made
    assert made["value"]["right"] == {"success": True, "did": made["value"]["did"]}
    assert [wrap["kind"] for wrap in made["value"]["keys"]["wraps"]] == ["password"]


async def test_a_second_passkey_opens_the_vault_and_a_removed_one_no_more(page: Page) -> None:
    first = await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await first.remove()
    await first.add(transport="usb")
    seen = await outcome(page, """
      window.second = await hf.createPasskey({userName: "ada", hints: ["security-key"]});
      await client.vault.addKey(await hf.passkeyKey(second));
      await client.vault.removeKey("prf", passkey.credentialId);
      await client.vault.lock();
      const stored = await new hf.VaultStore().load();
      const opened = await client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()));
      return {opened, revisions: stored.revision, wraps: (await client.vault.keys()).wraps, second: second.credentialId};
    """)  # fmt: skip
    value = seen.get("value")
    assert value, seen
    assert value["opened"] == {"success": True, "did": made["did"]}
    assert value["wraps"] == [{"kind": "prf", "id": value["second"]}]
    last = await outcome(page, "return client.vault.removeKey('prf', second.credentialId)")
    assert (last["name"], last["code"]) == ("PluginCallError", "last_wrap")


async def test_what_leaves_the_ceremony_holds_no_secret(page: Page) -> None:
    await Authenticator.of(page)
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
      await client.vault.generate({credential: made.credential}, key);
      return {texts: [JSON.stringify(made), JSON.stringify(used), atob(made.credential), atob(used.assertion)],
              results, left: key.secret.byteLength, again: await hf.passkeyKey(made).then(({kind}) => kind)};
    """.replace("const results", f"await ({CLIENT})({{}}); const results"))  # fmt: skip
    value = seen.get("value")
    assert value, seen
    assert value["left"] == 0, "the secret's buffer has moved into the worker"
    assert len(value["results"]) == 2 and value["results"][0] == value["results"][1]
    for text in value["texts"]:
        assert "prf" not in text and "results" not in text


async def test_autofill_waits_and_gives_way(page: Page) -> None:
    authenticator = await Authenticator.of(page)
    assert "value" in await outcome(page, "window.passkey = await hf.createPasskey(); return 1")
    seen = await outcome(page, "return hf.usePasskey({mediation: 'conditional'})")
    assert seen["value"]["hasKey"] is True
    assert seen["value"]["credentialId"] == await page.evaluate("passkey.credentialId")
    await authenticator.send("clearCredentials")
    # A virtual authenticator responds to an autofill request at once, but a real browser waits, so this fake waits too.
    seen = await outcome(page, """
      navigator.credentials.get = ({signal}) => new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      const waiting = hf.usePasskey({mediation: "conditional"}).catch((error) => error.reason);
      await new Promise((resolve) => setTimeout(resolve, 200));
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


async def test_a_passkey_is_added_everywhere_and_removed_again(page: Page) -> None:
    first = await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    assert "value" in await outcome(page, "return client.register({handle: 'ada'})")
    seen = await refused(page, "return client.addPasskey({userName: 'ada'})")
    assert seen["reason"] == "excluded", "the same authenticator holds one already"
    await first.remove()
    await first.add(transport="usb")
    added = (await outcome(page, "return client.addPasskey({userName: 'ada', deviceName: 'Key'})"))["value"]
    assert added["registered"] is True
    found = await outcome(page, f"return client.lookupDid({{credentialId: '{added['credentialId']}'}})")
    assert (found["value"]["did"], found["value"]["identifier"]) == (made["did"], "ada")
    listed = (await outcome(page, "return (await client.vault.query()).credentials"))["value"]
    assert [it["device_name"] for it in listed] == ["", "Key"]
    await page.evaluate("client.vault.lock()")
    opened = await outcome(page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()))")
    assert opened["value"]["success"] is True
    gone = await outcome(page, f"return client.removePasskey('{made['credentialId']}')")
    assert gone["value"] == {"told": True}
    left = await outcome(
        page, "return [(await client.vault.keys()).wraps, (await client.vault.query()).credentials.length]"
    )
    assert left["value"] == [[{"kind": "prf", "id": added["credentialId"]}], 1]
    last = await outcome(page, f"return client.removePasskey('{added['credentialId']}')")
    assert last["code"] == "last_wrap" and len(await first.credentials()) == 1
    await first.remove()
    await first.add(hasPrf=False)
    assert (await refused(page, "return client.addPasskey()"))["reason"] == "no_prf"
    assert await first.credentials() == [], "a passkey that opens nothing is not left behind"


async def test_a_long_credential_id_has_a_short_name_in_the_vault(page: Page) -> None:
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
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
