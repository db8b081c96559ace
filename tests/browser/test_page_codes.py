"""Registration with an e-mail address or a phone number, and the code that is sent there."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

import pytest
from tests.support.held_requests import HeldRequests
from tests.support.page_visits import Visit, new_name

if TYPE_CHECKING:
    from playwright.async_api import Browser
    from tests.support.serving import Server

CODE = '[name="code"]'
KINDS = (".eml", ".txt")  # of the files in which the development outbox keeps mails and text messages


def sent(server: Server, to: str) -> list[str]:
    """Return the codes that the service has sent to an address, the oldest first."""
    texts = [file.read_text() for file in sorted((server.data / "outbox").glob("*.*")) if file.suffix in KINDS]
    return [re.findall(r"\b\d{6}\b", text.split("Subject:")[-1])[0] for text in texts if to in text]


async def test_an_address_and_its_second_passkey_are_registered_with_codes(browser: Browser, shared: Server) -> None:
    visit, address = await Visit.of(browser, shared), f"{new_name()}@example.com"
    await visit.choose("email", address)
    await visit.screen("passkey")
    await visit.press("create")
    await visit.screen("prove")
    await visit.page.locator(CODE).wait_for()
    (code,) = sent(shared, address)
    await uses_up_the_tries(visit, code)
    await visit.page.clock.fast_forward(31_000)  # until a new code may be requested
    await visit.page.locator('[data-name="resend"]:enabled').wait_for()
    assert await visit.text('[data-name="left"]') == "", "a code without tries has no time left"
    await visit.press("resend")
    await visit.told("It works for", '[data-name="left"]')
    _, code = sent(shared, address)
    await visit.fill("code", f"Your code is {code[:3]} {code[3:]}.")
    await visit.screen("safety")
    await visit.told(address)
    with shared.client() as client:
        status = client.get("/api/verify/status", params={"identifier": address, "channel": "email"}).json()
    assert status["verified"] is True
    await adds_a_passkey(visit, address)
    assert visit.complaints == []


async def uses_up_the_tries(visit: Visit, code: str) -> None:
    """Enter too few digits, which is no try, and then five wrong codes."""
    await visit.page.clock.install()
    await visit.told("It works for", '[data-name="left"]')
    await visit.fill("code", "12 34")
    await visit.press("submit")
    await visit.told("A code has six digits. This has fewer.")
    for tries in (4, 3, 2, 1, 0):
        await visit.fill("code", f"{(int(code) + tries + 1) % 1_000_000:06d}")
        await visit.told(f"That code is not right. {tries} tr" if tries else "Too many tries.")
        assert await visit.page.evaluate("document.activeElement.name") == "code"
        if tries == 4:
            await visit.inspect("prove-wrong")


async def adds_a_passkey(visit: Visit, address: str) -> None:
    """Add a second passkey, of which the service is told later, with one more code."""
    await visit.press("later")
    await visit.screen("home")
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.press("add")
    await visit.page.locator(CODE).wait_for()
    await visit.inspect("prove-passkey")
    await visit.press("prove-later")
    await visit.told("The service does not know this passkey yet.", '[data-card="passkeys"]')
    (second,) = await visit.authenticator.credentials()
    await visit.press("register-passkey")
    await visit.page.locator(CODE).wait_for()
    await visit.fill("code", sent(visit.server, address)[3])
    await visit.told("The service knows the passkey now.", "#status")
    did = await visit.text('[data-name="did"]')
    assert await visit.page.locator('[data-name="register-passkey"]').count() == 0
    credential = second["credentialId"].replace("+", "-").replace("/", "_").rstrip("=")
    with visit.server.client() as client:
        found = client.get("/api/dids/lookup", params={"credentialId": credential}).json()
    assert found["found"] is True and found["did"] == did and found["identifier"] == address


# Simulates a browser that reads codes from text messages (WebOTP), because Chromium without a phone receives none.
WEB_OTP = """
  window.OTPCredential = class {};
  const others = navigator.credentials.get.bind(navigator.credentials);
  navigator.credentials.get = (asked) => asked.otp
    ? new Promise((resolve, reject) => {
        window.otp = {asked: asked.otp, give: (code) => resolve({code})};
        asked.signal.addEventListener("abort", () => (window.otp.aborted = true, reject(asked.signal.reason)));
      })
    : others(asked);
"""
ASKED = "new Promise((done) => { const look = () => window.otp ? done(otp.asked) : setTimeout(look, 20); look(); })"


@pytest.mark.soak  # tests/service says what cannot be sent in the gate
async def test_a_mail_that_cannot_be_sent_and_another_way(browser: Browser, shared: Server) -> None:
    context = await browser.new_context()
    await context.add_init_script(WEB_OTP)
    visit = await Visit.of(context, shared)
    refused = {"error": "email_send_failed"}
    await visit.page.route("**/api/verify/send", lambda route: route.fulfill(status=502, json=refused))
    await visit.choose("email", f"{new_name()}@example.com")
    await visit.press("create")
    await visit.screen("prove")
    await visit.alerted("We could not send it. It did not count.")
    await visit.inspect("prove-failed")
    await visit.page.unroute("**/api/verify/send")
    await visit.press("change")
    await leaves_while_a_code_is_sent(visit)
    await visit.press("continue")
    await visit.page.locator(CODE).wait_for()
    await visit.page.click("#screen details summary")
    await visit.press("change")
    await uses_a_phone(visit, f"+4915{secrets.randbelow(10**9):09d}")
    assert len(await visit.authenticator.credentials()) == 1, "the passkey is kept"
    assert visit.complaints == []


async def leaves_while_a_code_is_sent(visit: Visit) -> None:
    """Go to the first screen before the service has sent a code, which does not bring the code's screen back."""
    held = await HeldRequests.of(visit.page, "**/api/verify/send")
    await visit.screen("choose")
    await visit.fill("email", f"{new_name()}@example.com")
    await visit.press("submit")
    await visit.screen("prove")
    await held.made()
    await visit.page.click(".home")
    await visit.screen("resume")
    await held.release()
    await visit.screen("resume")


async def uses_a_phone(visit: Visit, number: str) -> None:
    """Choose a phone number; the browser takes the code out of the text message without a key or a click."""
    await visit.screen("choose")
    await visit.press("use-sms")
    await visit.fill("tel", number)
    await visit.press("submit")
    field = visit.page.locator(CODE)
    await field.wait_for()
    kind = [await field.get_attribute(name) for name in ("autocomplete", "inputmode")]
    assert kind == ["one-time-code", "numeric"]
    assert await visit.page.evaluate(ASKED) == {"transport": ["sms"]}
    (code,) = sent(visit.server, number)
    await visit.page.evaluate("(code) => otp.give(code)", code)
    await visit.screen("safety")
    assert await visit.page.evaluate("otp.aborted"), "no request outlives its screen"
