"""Another origin asks people to register and sign with Holdfast: the example app, its server, and malicious pages."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from tests.support.connecting_apps import ASK, App, allow, asking, clicked, registered, told
from tests.support.held_requests import HeldRequests
from tests.support.page_visits import Visit, new_name
from tests.support.pages import serving
from tests.support.passkeys import CLIENT, MAKE, Authenticator, visit
from tests.support.serving import becomes_true
from tests.support.synced_passkeys import answering, exported, note_secret

from holdfast import verify_app_signature
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext
    from tests.support.serving import Server

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "app"


class IsolatedApp(App):
    headers_of_all = (*App.headers_of_all, ("Cross-Origin-Opener-Policy", "same-origin"))


@pytest.fixture
def server(shared):
    return shared


# Chromium answers a request for a passkey from those that the authenticator has when the request begins, and offers none
# beside a field as long as there is no authenticator. A window of /connect asks for both while it loads, so its first
# requests wait until the test has given the passkey to its authenticator.
WAITING = """
(() => {
  const given = new Promise((done) => {
    window.passkeyGiven = () => { sessionStorage.passkeyGiven = "yes"; done(); };
    if (sessionStorage.passkeyGiven) done();
  });
  const hold = (owner, name) => {
    const ask = owner[name].bind(owner);
    owner[name] = async (options) => { await given; return await ask(options); };
  };
  hold(navigator.credentials, "get");
  if (window.PublicKeyCredential) hold(PublicKeyCredential, "isConditionalMediationAvailable");
})()
"""


@dataclass
class Returning:
    """A person with a vault, and with a passkey that every window of the profile can use."""

    context: BrowserContext
    server: Server
    credential: dict[str, Any]

    async def at(self, page, screen="consent"):
        """Click the app's button; return the window that opens, when it shows the screen."""
        window = await clicked(page, self.server)
        await window.authenticator.send("addCredential", credential=self.credential)
        await window.page.wait_for_url("**/connect*")  # not the empty document that a window begins with
        await window.page.evaluate("passkeyGiven()")
        await window.screen(screen)
        return window


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def person(kept_context, shared):
    page = await kept_context.new_page()
    await note_secret(page)
    await visit(page, shared)
    authenticator = await Authenticator.of(page)
    await page.evaluate(CLIENT, {"snapshots": False})
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate("(handle) => client.register({handle})", new_name())
    credential, secret = await exported(page, authenticator)
    await page.close()
    await kept_context.add_init_script(answering(secret))
    await kept_context.add_init_script(WAITING)
    return Returning(kept_context, shared, credential)


@pytest.fixture
def example(server):
    """The example app's server."""
    port = free_port()
    arguments = [sys.executable, str(EXAMPLE / "server.py"), f"http://localhost:{server.port}", str(port)]
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    try:
        assert becomes_true(lambda: answers(port)), "the example's server does not listen"
        yield f"http://localhost:{port}/"
    finally:
        process.terminate()
        process.wait()


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


# The window returns to the front, where a click meant for another window hits the button, which is focused.
STRAY = """(() => {
  const it = document.querySelector('[data-name="allow"]');
  it.focus();
  dispatchEvent(new Event("focus"));
  it.click();
  return {acted: it.disabled, focused: document.activeElement === it};
})()"""


UPLOAD = "**/api/v0/dag/import*"


async def test_the_example_app_registers_a_person_and_verifies_the_signature(browser, server, example):
    """The window waits for the vault's first copy, and says so."""
    assert sum(len(file.read_text().splitlines()) for file in EXAMPLE.iterdir() if file.is_file()) < 100
    page = await browser.new_page()
    await page.goto(example)
    window = await clicked(page, server, "#sign:enabled")
    held = await HeldRequests.of(window.page, UPLOAD)
    await window.told(example.rstrip("/"), ".asker")
    await window.screen("start")
    await window.choose("handle", new_name(), then="passkey")
    await window.press("create")
    await held.made()
    await window.press("copy-without")
    await window.press("later", then="consent")
    assert await window.text('[data-name="origin"]') == example.rstrip("/")
    assert await window.text('[data-name="signs"]') == "I sign the guest book."
    did = await window.text('[data-name="did"]')
    await window.inspect("connect-consent")
    assert await window.page.evaluate(STRAY) == {"acted": False, "focused": True}
    await allow(window)
    await window.told("Your vault\u2019s first copy is being saved.", "#status")
    async with window.page.expect_event("close"), window.page.expect_response(UPLOAD) as uploaded:
        held.go()
    assert (await uploaded.value).ok
    await page.locator("#outcome", has_text=f"Signed by {did}").wait_for()
    assert window.complaints == []


SIGN = {"sign": {"text": "I log in.", "challenge": "c" * 32}}


async def test_what_ends_without_an_answer_reaches_the_app(person, server, app):
    """What is wrong with a request is told by browser/test/entry_pages.test.js."""
    page = await asking(person.context, app, server, SIGN)
    window = await person.at(page)
    await window.page.close()
    assert (await told(page))["code"] == "window_closed"
    window = await person.at(page)
    await window.press("refuse")
    assert (await told(page))["code"] == "user_cancelled"
    window = await person.at(page)
    with serving(App) as other:
        await page.goto(other)  # the opener now shows another origin, which listens
        await page.evaluate("window.heard = []; addEventListener('message', ({data}) => heard.push(data))")
        await allow(window)
        await window.screen("gone")
        assert await page.evaluate("heard") == []
        await window.page.close()
        await page.evaluate("window.open = () => null")
        await page.evaluate(ASK, [f"http://localhost:{server.port}", SIGN, {"redirect": "never"}])
        await page.click("button")
        assert (await told(page))["code"] == "popup_blocked"


# A malicious page that opens /connect without the client's module, and records the messages that it receives.
HOSTILE = """
(service) => {
  window.heard = [];
  addEventListener("message", ({data, origin}) => heard.push({...data, origin}));
  document.querySelector("button").onclick = () => { window.popup = open(`${service}/connect`, "w", "popup"); };
}
"""


async def test_a_hostile_page_cannot_drive_the_window_or_read_the_answer(person, server, app):
    context = person.context
    service = f"http://localhost:{server.port}"
    page = await asking(context, app, server, SIGN)
    window = await person.at(page)
    with serving(App) as elsewhere:
        hostile = await context.new_page()
        await hostile.goto(elsewhere)
        await hostile.evaluate(HOSTILE, service)
        own = await clicked(hostile, server)
        await hostile.wait_for_function("heard.some(({type}) => type === 'ready')")
        # The hostile page sends the window that it opened a wrong nonce, an invalid state, and fields unknown to /connect.
        await hostile.evaluate(
            """([service, now]) => {
          const send = (fields) => popup.postMessage({holdfast: "connect/1", ...fields}, service);
          const {nonce} = heard[0];
          const request = {sign: {text: "x", challenge: "c".repeat(32)}};
          send({type: "request", nonce: "0".repeat(32), state: "a".repeat(32), expires: now + 60, request});
          send({type: "request", nonce, state: "not hex", expires: now + 60, request, origin: "https://bank.example"});
        }""",
            [service, int(time.time())],
        )
        await own.screen("bad_request")
        assert (await own.text('[data-name="origin"]')) == elsewhere.rstrip("/"), "who asks is what the browser says"
        await allow(window)
        assert (await told(page))["result"]["signature"]["message"].split("\n")[1] == f"Origin: {app.rstrip('/')}"
        assert {it["type"] for it in await hostile.evaluate("heard")} == {"ready", "error"}
        # The hostile page can neither read the document of the window that it opened nor display /connect in a frame.
        assert (
            await hostile.evaluate("(() => { try { return popup.document.title } catch (e) { return e.name } })()")
            == "SecurityError"
        )
        framed = await hostile.evaluate("""async (service) => {
          const frame = document.createElement("iframe");
          frame.src = `${service}/connect`;
          const loaded = new Promise((done) => { frame.onload = done; });
          document.body.append(frame);
          await loaded;
          const before = heard.length;
          await new Promise((done) => setTimeout(done, 600));
          return heard.slice(before).filter(({type}) => type === "ready").length;
        }""", service)  # fmt: skip
        assert framed == 0
        await own.page.close()


async def test_without_a_window_the_page_goes_there_and_comes_back(browser, server):
    with serving(IsolatedApp) as app:
        page = await asking(browser, app, server, SIGN)
        person = Visit(page, server)
        person.authenticator = await Authenticator.of(page)
        async with page.expect_popup() as cut:
            await page.click("button")  # the app's header cuts the connection to the window
        await registered(person, new_name())
        await (await cut.value).close()
        assert await person.text('[data-name="origin"]') == app.rstrip("/")
        address = page.url
        await allow(person)
        await page.wait_for_url(f"{app}#*")
        answered = page.url
        back = "async (service) => (await import(`${service}/client/connect.js`)).connected().then((result) => ({result}), ({code}) => ({code}))"
        service = f"http://localhost:{server.port}"
        result = (await page.evaluate(back, service))["result"]
        assert result["did"] == verify_app_signature(
            result["signature"],
            origin=app.rstrip("/"),
            challenge="c" * 32,
            text="I log in.",
            now=datetime.now(UTC),
            returns=[app],
        )
        assert page.url == app, "the answer does not stay in the address"
        assert await page.evaluate(back, service) is not None
        await page.goto("about:blank")
        await page.goto(answered)  # the same result, from the history
        assert await page.evaluate(back, service) == {"code": "replayed"}
        # The app repeats a request that the person has already answered. If another site repeats it, the browser reports
        # a different origin, or none.
        await page.evaluate(
            """(address) => {
          const link = Object.assign(document.createElement("a"), {href: address, referrerPolicy: "origin"});
          document.body.append(link);
          link.click();
        }""",
            address,
        )
        await person.screen("consent")
        await allow(person)
        await person.screen("replayed")
        with serving(App) as thief:
            await page.goto(thief)
            await page.evaluate("(address) => { location.href = address; }", address)
            await person.screen("origin_refused")
