"""Registration on the start page, in a real Chromium with a virtual authenticator and a running service."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from typing import TYPE_CHECKING

import pytest
from tests.support.held_requests import HeldRequests
from tests.support.page_visits import Visit
from tests.support.receivers import receiving
from tests.support.serving import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.async_api import Browser, Route
    from tests.support.serving import Server

RESERVED = [
    ("ann@example.com", "This is an e-mail address, not a name."),
    ("+49 151 23456789", "This is a phone number, not a name."),
    ("amazon.com", "This reads as an account address or a website"),
    ("\u0430nna", "This name can be mistaken for another one"),
]
# Whether a tab holds the lock under which only one tab registers.
REGISTERING = "navigator.locks.query().then(({held}) => held.some(({name}) => name === 'holdfast-registration'))"


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def test_a_person_registers_by_handle(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.screen("start")
    await visit.inspect("start")
    await visit.press("register")
    await visit.screen("choose")
    await visit.inspect("choose")
    await visit.press("submit")
    await visit.told("Fill in this field")
    await visit.fill("handle", "admin")
    await visit.told("This name is reserved.")
    for name, why in RESERVED:
        await visit.fill("handle", name)
        await visit.told(why)
    await visit.inspect("choose-refused")
    await visit.fill("handle", "alice")
    await visit.told("alice is free.")
    await visit.press("submit")
    await visit.screen("passkey")
    await visit.inspect("passkey")
    await visit.press("create")
    await visit.screen("safety")
    await visit.inspect("safety")
    await visit.told("You are registered as alice", "h1")
    assert await visit.page.locator("main button.main").all_text_contents() == ["Go to your vault"]
    device = visit.authenticator.id
    await visit.authenticator.add(transport="usb")
    await visit.press("second")
    await visit.told("The second passkey is ready.", "#status")
    assert len(await visit.authenticator.credentials()) == 1, "it is on the security key, not on this device"
    await visit.inspect("safety-second")
    visit.authenticator.id = device
    await visit.press("later")
    await visit.screen("home")
    await visit.told("Registered as alice")
    await visit.inspect("vault")
    (credential,) = await visit.authenticator.credentials()
    assert credential["isResidentCredential"]
    with server.client() as client:
        found = client.get("/api/sessions/check", params={"identifier": "alice"}).json()
    assert found == {"available": False, "reason": "taken"}
    assert visit.complaints == []


async def test_a_name_that_is_taken_may_be_the_persons_own(browser: Browser, server: Server) -> None:
    with server.client() as client:
        client.post("/api/sessions", json={"identifier": "alice", "channel": "handle", "did": "did:new:0x01"})
    other = await Visit.of(await browser.new_context(), server, isUserVerified=False)
    await other.press("register")
    await other.fill("handle", "alice")
    await other.told("This name is taken.")
    await other.inspect("choose-taken")
    await other.press("yours")
    await other.screen("none")
    await other.press("stuck")
    await other.screen("stuck")
    await other.inspect("stuck")
    await other.press("recover")
    await other.alerted("No passkey was used.")


async def test_a_full_network_is_told_before_a_passkey_is_made(browser: Browser, server: Server) -> None:
    with server.client() as client:
        for number in range(3):
            body = {"identifier": f"n{number}", "channel": "handle", "did": f"did:new:0x0{number}"}
            assert client.post("/api/sessions", json=body).status_code == 200
    visit = await Visit.of(browser, server)
    await visit.choose("handle", "alice")
    await visit.told("This service takes no more registrations from your network.")
    assert await visit.authenticator.credentials() == []


async def test_a_vault_whose_registration_is_gone_registers_again(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(tmp_path / "service")
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    await visit.told("At this service only.", '[data-card="identity"]')
    # What a chain's refusal leaves behind: the handle's session, and no credential that a look-up finds.
    with contextlib.closing(sqlite3.connect(tmp_path / "service" / "holdfast.db", timeout=60)) as database, database:
        database.execute("UPDATE credentials SET confirmation = 'refused', settled_at = created_at")
    await visit.open("/vault")
    await visit.screen("home")
    await visit.told("Not registered at this service yet.", '[data-card="identity"]')
    await visit.inspect("vault-unregistered")
    await visit.press("register", '[data-card="identity"]')
    await visit.screen("choose")
    assert await visit.page.input_value('[name="handle"]') == "alice"
    await visit.press("submit")
    await visit.screen("safety")
    await visit.press("later")
    await visit.told("Registered as alice", '[data-card="identity"]')
    assert len(await visit.authenticator.credentials()) == 1
    assert visit.complaints == []


async def test_a_person_registers_by_mail_with_the_code_that_arrives(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    async with receiving() as post:
        server = serve(mail_url=f"smtp://127.0.0.1:{post.port}", mail_from="codes@service.test")
        visit = await Visit.of(browser, server)
        await visit.choose("email", "ann@example.com")
        await visit.screen("passkey")
        await visit.press("create")
        await visit.screen("prove")
        await visit.page.locator('[name="code"]').wait_for()
        await visit.inspect("prove")
        code = re.search(r"\b(\d{6})\b", str(post.message().get_body(("plain",)).get_content()))
        assert code
        await visit.fill("code", "12 34")
        await visit.press("submit")
        await visit.told("A code has six digits. This has fewer.")
        wrong = f"{(int(code[1]) + 1) % 1_000_000:06d}"
        await visit.fill("code", wrong)
        await visit.told("That code is not right. 4 tries left.")
        assert await visit.page.evaluate("document.activeElement.name") == "code"
        await visit.inspect("prove-wrong")
        await visit.fill("code", f"Your code is {code[1][:3]} {code[1][3:]}.")
        await visit.screen("safety")
        await visit.told("ann@example.com")
        assert len(post.mails) == 1
    with server.client() as client:
        status = client.get("/api/verify/status", params={"identifier": "ann@example.com", "channel": "email"}).json()
    assert status["verified"] is True and visit.complaints == []


async def test_a_code_without_tries_has_no_time_left(browser: Browser, serve: Callable[..., Server]) -> None:
    async with receiving() as post:
        visit = await Visit.of(browser, serve(mail_url=f"smtp://127.0.0.1:{post.port}", mail_from="codes@service.test"))
        await visit.choose("email", "ann@example.com")
        await visit.press("create")
        await visit.page.locator('[name="code"]').wait_for()
        code = re.search(r"\b(\d{6})\b", str(post.message().get_body(("plain",)).get_content()))
        assert code
        await visit.told("It works for", '[data-name="left"]')
        for tries in (4, 3, 2, 1, 0):
            await visit.fill("code", f"{(int(code[1]) + tries + 1) % 1_000_000:06d}")
            await visit.told(f"{tries} tr" if tries else "Too many tries.")
        assert await visit.text('[data-name="left"]') == ""
        await visit.page.clock.install()
        await visit.page.clock.run_for(3000)  # the countdown goes on until a new code may be requested
        assert await visit.text('[data-name="left"]') == ""


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


async def test_a_code_is_taken_out_of_the_text_message(
    browser: Browser, serve: Callable[..., Server], tmp_path: Path
) -> None:
    context = await browser.new_context()
    await context.add_init_script(WEB_OTP)
    visit = await Visit.of(context, serve(tmp_path / "service"))
    await visit.press("register")
    await visit.press("use-sms")
    await visit.fill("tel", "+4915123456789")
    await visit.press("submit")
    await visit.press("create")
    field = visit.page.locator('[name="code"]')
    await field.wait_for()
    assert (await field.get_attribute("autocomplete"), await field.get_attribute("inputmode")) == (
        "one-time-code",
        "numeric",
    )
    await visit.page.evaluate(
        "new Promise((done) => { const look = () => window.otp ? done(true) : setTimeout(look, 20); look(); })"
    )
    assert await visit.page.evaluate("otp.asked") == {"transport": ["sms"]}
    (message,) = (tmp_path / "service" / "outbox").glob("*.txt")
    code = re.search(r"\b(\d{6})\b", message.read_text())
    assert code
    await visit.page.evaluate("(code) => otp.give(code)", code[1])
    await visit.screen("safety")  # without pressing a key or clicking
    assert await visit.page.evaluate("otp.aborted"), "no request outlives its screen"
    assert visit.complaints == []


async def test_a_mail_that_cannot_be_sent_and_another_way(browser: Browser, serve: Callable[..., Server]) -> None:
    visit = await Visit.of(browser, serve(mail_url="smtp://127.0.0.1:9", mail_from="codes@service.test"))
    await visit.choose("email", "ann@example.com")
    await visit.press("create")
    await visit.screen("prove")
    await visit.alerted("We could not send it. It did not count.")
    await visit.inspect("prove-failed")
    await visit.press("change")
    await visit.screen("choose")
    await visit.press("use-handle")
    await visit.fill("handle", "ann")
    await visit.press("submit")
    await visit.screen("safety")
    assert len(await visit.authenticator.credentials()) == 1, "the passkey is kept"


# The person creates the passkey, but cancels the second prompt, which would return the passkey's PRF secret.
ONE_CANCELLED = """(() => {
  const {create, get} = navigator.credentials;
  const secretless = async (options) => {
    const made = await create.call(navigator.credentials, options);
    made.getClientExtensionResults = () => ({prf: {enabled: true}});
    return made;
  };
  navigator.credentials.create = secretless;
  navigator.credentials.get = async () => {
    navigator.credentials.get = get;
    throw new DOMException("cancelled", "NotAllowedError");
  };
})()"""


async def test_a_prompt_that_is_cancelled_three_times(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server, isUserVerified=False)
    await visit.choose("handle", "alice")
    for _ in range(3):
        await visit.press("create")
        await visit.alerted("No passkey was used. Nothing changed.")
        await visit.press("back")
        await visit.screen("choose")
        await visit.fill("handle", "alice")
        await visit.press("submit")
        await visit.screen("passkey")
    await visit.press("create")
    await visit.alerted("No passkey was used.")
    await visit.inspect("passkey-cancelled")
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.page.evaluate(ONE_CANCELLED)
    await visit.press("create")
    await visit.screen("passkey-again")
    await visit.alerted("No passkey was used.")
    await visit.inspect("passkey-again")
    await visit.press("again")
    await visit.screen("safety")
    assert len(await visit.authenticator.credentials()) == 1, "the passkey that was made is used"


async def test_a_prompt_that_nobody_answers(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server, automaticPresenceSimulation=False)
    await visit.page.add_init_script("""
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = (options) => {
        const request = {...options, publicKey: {...options.publicKey, timeout: 4000}};
        return new Promise((ask) => { called(ask); }).then(() => create(request));
      };
      let called;
      window.called = new Promise((resolve) => { called = (ask) => { window.ask = ask; resolve(true); }; });
      const now = performance.now.bind(performance);
      performance.now = () => now() + (window.later ?? 0);
    """)
    await visit.open("/")
    await visit.choose("handle", "alice")
    await visit.press("create")
    await visit.told("Follow your device.", "#status")
    assert await visit.page.locator('[data-name="create"]').is_disabled(), "a double click asks once"
    await visit.page.evaluate("window.called")  # now the page has noted the time and asked for a passkey
    # The browser aborts the request after 4 s, while the page's clock says that the full minute has passed.
    await visit.page.evaluate("window.later = 60000; window.ask()")
    await visit.alerted("That took too long. Nothing changed.")


async def test_without_prf_a_password_locks_the_vault(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server, hasPrf=False)
    await visit.choose("handle", "alice")
    await visit.press("create")
    await visit.screen("password")
    await visit.inspect("password")
    for first, second, words in (
        ("short", "short", "too short"),
        ("a" * 12, "a" * 12, "easy to guess"),
        ("correct horse", "correct house", "differ"),
    ):
        await visit.fill("new-password", first)
        await visit.fill("new-password-again", second)
        await visit.press("submit")
        await visit.told(words)
    await visit.fill("new-password-again", "correct horse")
    await visit.press("submit")
    await visit.screen("safety")
    assert "also the sealed copy of it that this service keeps" in await visit.text("main")
    await visit.inspect("safety-password")
    await visit.open("/vault")
    await visit.screen("unlock")
    await visit.press("use-password")
    await visit.screen("unlock-password")
    await visit.inspect("unlock-password")
    await visit.fill("password", "wrong horse here")
    await visit.press("submit")
    await visit.alerted("The password is not right.")
    await visit.fill("password", "correct horse")
    await visit.press("submit")
    await visit.screen("home")


async def test_the_first_screen_does_not_wait_for_the_database(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    await context.add_init_script("IDBFactory.prototype.open = () => ({})")  # never opens
    visit = await Visit.of(context, server)
    await visit.screen("start")
    await context.close()


async def test_a_browser_without_passkeys_and_the_wrong_address(browser: Browser, server: Server) -> None:
    visit = Visit(await browser.new_page(), server)
    await visit.page.add_init_script("delete window.PublicKeyCredential")
    await visit.open("/")
    await visit.told("This browser has no passkeys.", '[data-name="obstacle"]')
    await visit.inspect("start-unsupported")
    await visit.open("/vault")
    await visit.screen("none")
    await visit.told("This browser has no passkeys.", '[data-name="obstacle"]')
    await visit.inspect("none-unsupported")
    page = await browser.new_page()
    await page.goto(f"http://127.0.0.1:{server.port}/")
    # The default public URL.
    await page.locator(f'[data-name="obstacle"] a[href="http://localhost:{server.port}/"]').wait_for()


async def test_an_interrupted_registration_goes_on(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    visit = await Visit.of(context, server)
    # Registration is interrupted after the name is chosen, after the vault is stored, and while the service is
    # unreachable.
    await visit.choose("handle", "alice")
    await visit.screen("passkey")
    await visit.open("/")
    await visit.screen("resume")
    await visit.inspect("resume")

    async def fails(route: Route) -> None:
        await route.abort()

    await visit.page.route("**/api/sessions", fails)
    await visit.press("continue")
    await visit.screen("passkey")
    await visit.press("create")
    await visit.screen("finish-failed")
    await visit.alerted("No connection to the service. We keep your place.")
    await visit.inspect("finish-failed")
    await visit.page.unroute("**/api/sessions")
    await visit.open("/")
    await visit.press("continue")
    await visit.screen("safety")
    assert len(await visit.authenticator.credentials()) == 1
    with server.client() as client:
        assert client.get("/api/sessions/status").json()["total_registrations"] == 1
    await visit.open("/")
    await visit.screen("start")


async def test_a_step_that_comes_late_is_not_taken(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.page.route("**/api/sessions", lambda route: route.abort())
    await visit.choose("handle", "alice")
    await visit.press("create")
    await visit.screen("finish-failed")
    await visit.page.unroute("**/api/sessions")
    held = await HeldRequests.of(visit.page, "**/api/status")
    await visit.press("again")
    await held.made()
    await visit.press("other")
    await visit.screen("choose")
    await held.release()
    await visit.screen("choose")
    with server.client() as client:
        status = client.get("/api/sessions/status").json()
    assert status["total_registrations"] == 0, "the person wants another name"


async def test_a_code_that_is_sent_late_does_not_bring_its_screen_back(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    held = await HeldRequests.of(visit.page, "**/api/verify/send")
    await visit.choose("email", "ann@example.com")
    await visit.press("create")
    await visit.screen("prove")
    await held.made()
    await visit.page.click(".home")
    await visit.screen("resume")
    await held.release()
    await visit.screen("resume")


async def test_two_tabs_register_one_after_the_other(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    first = await Visit.of(context, server)
    await first.choose("handle", "alice")
    await first.screen("passkey")
    second = await Visit.of(context, server)
    await second.screen("resume")
    await second.press("continue")
    await second.alerted("You are registering in another tab.")
    await first.page.close()
    async with asyncio.timeout(PATIENCE_S):
        while await second.page.evaluate(REGISTERING):  # the browser ends the closed tab in its own time
            await asyncio.sleep(0.05)
    await second.press("continue")
    await second.screen("passkey")


async def test_a_name_that_was_taken_meanwhile(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    visit = await Visit.of(context, server)
    await visit.choose("handle", "alice")
    await visit.screen("passkey")
    other = await Visit.of(await browser.new_context(), server)
    await other.register("alice")
    await visit.page.bring_to_front()
    await visit.press("create")
    await visit.screen("choose")
    await visit.alerted("Someone registered this just now. Your passkey is kept. Choose another.")
    await visit.fill("handle", "alice2")
    await visit.press("submit")
    await visit.screen("safety")
    assert len(await visit.authenticator.credentials()) == 1


async def test_the_browsers_back_goes_to_the_screen_before(browser: Browser, serve: Callable[..., Server]) -> None:
    visit = await Visit.of(browser, serve())
    await visit.choose("handle", "alice")
    await visit.screen("passkey")
    await visit.page.go_back()
    await visit.screen("choose")
    assert await visit.page.input_value('[name="handle"]') == "alice"
    await visit.page.go_back()
    await visit.screen("resume")  # the start page, which offers to continue
    await visit.press("continue")
    await visit.screen("passkey")
    await visit.press("create")
    await visit.screen("safety")
    await visit.press("later")
    await visit.screen("home")
    await visit.press("delegate")
    await visit.screen("delegate")
    await visit.page.go_back()
    await visit.screen("home")
