"""The vault page, in a real Chromium with a virtual authenticator and a running service."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from tests.support.page_visits import MOVING, Visit, requested
from tests.support.vaults import PASSKEY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.async_api import Browser, BrowserContext
    from tests.support.serving import Server

PASSWORD = "correct horse battery"
# What screen readers call the buttons of the screen.
BUTTONS = "[...document.querySelectorAll('#screen button')].map((it) => it.ariaLabel ?? it.textContent)"


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def test_a_return_by_autofill_and_by_the_button(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    did = await visit.text('[data-name="did"]')
    await visit.open("/vault")  # conditional mediation: the authenticator responds to the pending request
    await visit.screen("home")
    assert await visit.text('[data-name="did"]') == did
    await visit.press("lock")
    await visit.screen("unlock")
    await visit.told("Your vault is locked.", "#status")
    await visit.inspect("locked")
    await visit.press("passkey")
    await visit.screen("home")
    assert visit.complaints == []


async def test_a_waiting_person_sees_the_field_for_autofill(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    await visit.authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    await visit.open("/vault")
    await visit.screen("unlock")
    field = visit.page.locator('[name="username"]')
    assert await field.get_attribute("autocomplete") == "username webauthn"
    await visit.inspect("unlock")
    await visit.authenticator.send("setAutomaticPresenceSimulation", enabled=True)
    await visit.press("passkey")  # the pending request is replaced by the prompt
    await visit.screen("home")


async def test_a_second_passkey_opens_the_vault_and_the_first_can_go(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    (first,) = await visit.authenticator.credentials()
    assert await visit.page.locator('[data-name="remove"]').count() == 0, "the only way in stays"
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.press("add")
    await visit.told("The passkey is ready.", "#status")
    await visit.inspect("vault-two-passkeys")
    await visit.press("rename", "[data-credential]:last-child")
    await visit.fill("passkey-name", "Second device")
    await visit.press("submit", '[data-card="passkeys"]')
    await visit.told("Second device", '[data-card="passkeys"]')
    rows = visit.page.locator("[data-credential]", has_not_text="Second device")
    await rows.first.locator('[data-name="remove"]').click()
    await visit.page.locator("dialog[open]").wait_for()
    await visit.inspect("remove-dialog")
    await visit.press("yes")
    await visit.told("The passkey is removed.", "#status")
    (second,) = await visit.authenticator.credentials()
    assert second["credentialId"] != first["credentialId"]
    await visit.press("lock")
    await visit.press("passkey")
    await visit.screen("home")
    assert await visit.page.locator("[data-credential]").count() == 1


async def test_a_backup_opens_in_another_browser(browser: Browser, server: Server, tmp_path: Path) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    did = await visit.text('[data-name="did"]')
    names = await visit.page.evaluate(BUTTONS)
    assert len(set(names)) == len(names), "a screen reader can tell all buttons apart"
    assert re.fullmatch(r"[\w ]+, (Linux|macOS)", await visit.text("[data-credential] h3"))
    await visit.press("export")
    await visit.screen("export")
    await visit.inspect("export")
    await visit.fill("new-password", PASSWORD)
    await visit.fill("new-password-again", PASSWORD)
    async with visit.page.expect_download() as download:
        await visit.press("submit")
    file = tmp_path / "backup.mtrv"
    await (await download.value).save_as(file)
    await visit.told("The file is saved.", "#status")
    other = await Visit.of(await browser.new_context(), server, "/vault")
    await other.screen("none")
    await other.inspect("none")
    await other.press("import")
    await other.page.set_input_files('[name="file"]', file)
    await other.fill("password", "wrong horse battery")
    await other.press("submit")
    await other.alerted("The password is wrong, or the file is damaged.")
    await other.inspect("import-refused")
    await other.fill("password", PASSWORD)
    await other.press("submit")
    await other.screen("home")
    assert await other.text('[data-name="did"]') == did
    await other.press("add")
    await other.told("The passkey is ready.", "#status")
    await other.open("/vault")
    await other.screen("home")


async def test_cleared_storage_shows_no_unlock_form(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    await visit.open("/docs")
    await visit.page.evaluate(
        "new Promise((done) => { indexedDB.deleteDatabase('holdfast-vault').onsuccess = () => done(null); })"
    )
    await visit.open("/vault")
    await visit.screen("cleared")
    await visit.inspect("cleared")
    await visit.press("who")
    await visit.told("Your passkey belongs to alice", "#status")
    await visit.press("import")
    await visit.screen("import")


async def test_two_tabs_and_one_vault(browser: Browser, server: Server) -> None:
    context = await browser.new_context()
    # The vault uses a password, because a passkey's PRF secret cannot be moved between virtual authenticators.
    first = await Visit.of(context, server, hasPrf=False)
    await first.choose("handle", "alice")
    await first.press("create")
    await first.screen("password")
    await first.fill("new-password", PASSWORD)
    await first.fill("new-password-again", PASSWORD)
    await first.press("submit")
    await first.screen("safety")
    await first.press("later")
    await first.screen("home")
    second = await Visit.of(context, server, "/vault")
    await second.screen("elsewhere")
    await second.inspect("elsewhere")
    await second.press("use-password")
    await second.fill("password", PASSWORD)
    await second.press("submit")
    await second.screen("home")
    await first.screen("elsewhere")


async def test_a_permission_is_given_and_withdrawn(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    await visit.press("delegate")
    await visit.screen("delegate")
    await visit.press("submit")
    await visit.told("This is not a DID.")
    await visit.inspect("delegate-refused")
    await visit.fill("to", "did:new:0x" + "ab" * 20)  # as long as an address
    await visit.press("submit")
    await visit.told("This is not a DID.")
    await visit.fill("to", "did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA")
    await visit.fill("limit", "12,50")
    await visit.press("submit")
    await visit.screen("delegated")
    await visit.inspect("delegated")
    assert len(await visit.page.input_value("#permission")) > 100
    link = await visit.page.evaluate(
        "new Promise((told) => { navigator.clipboard.writeText = told; document.querySelector('[data-name=copy-link]').click(); })"
    )
    code = visit.page.locator("svg.qr")
    assert await code.get_attribute("aria-label"), "what the code is of"
    assert len(await code.locator("path").get_attribute("d") or "") > 1000
    other = await Visit.of(await browser.new_context(), server, urlsplit(link)._replace(scheme="", netloc="").geturl())
    await other.screen("received")
    assert "may ask for up to 12.50 USDC" in await other.text('[data-name="sentence"]')
    await other.inspect("received")
    await other.open("/docs")
    await other.open(urlsplit(link)._replace(scheme="", netloc="").geturl()[:-9])
    await other.told("no valid permission")
    await visit.press("done")
    await visit.told("may ask for up to 12.50 USDC", '[data-card="delegations"]')
    await visit.press("revoke")
    await visit.press("yes")
    await visit.told("could ask for up to 12.50 USDC", '[data-card="delegations"]')
    await visit.told("withdrawn", '[data-card="delegations"]')


# Adds a step in progress to the screen, as during registration and recovery.
BUSY = """(() => {
  const [list, step] = ["ul", "li"].map((name) => document.createElement(name));
  list.className = "steps";
  step.dataset.state = "busy";
  list.append(step);
  document.getElementById("screen").append(list);
})()"""


async def test_the_pages_in_german_with_the_keyboard_alone(browser: Browser, server: Server) -> None:
    context = await browser.new_context(locale="de-DE", reduced_motion="reduce", viewport={"width": 360, "height": 740})
    visit = await Visit.of(context, server)
    await visit.screen("start")
    assert await visit.page.get_attribute("html", "lang") == "de"
    await visit.inspect("start-de")
    await visit.page.evaluate(BUSY)
    assert await visit.page.evaluate(MOVING) == []
    await visit.page.emulate_media(reduced_motion="no-preference")
    moving = await visit.page.evaluate(MOVING)
    assert any(it.startswith("<button") for it in moving) and any("busy" in it for it in moving), moving
    await visit.page.emulate_media(reduced_motion="reduce")
    keyboard = visit.page.keyboard
    await visit.page.locator('[data-name="register"]').focus()
    await keyboard.press("Enter")
    await visit.screen("choose")
    await keyboard.type("jörg")
    await keyboard.press("Enter")
    await visit.screen("passkey")
    assert await visit.page.evaluate("document.activeElement.tagName") == "H1"
    await visit.inspect("passkey-de")
    await keyboard.press("Tab")
    await keyboard.press("Enter")
    await visit.screen("safety")
    await visit.inspect("safety-de")
    await visit.press("later")
    await visit.screen("home")
    await visit.told("Ihr Tresor")
    await visit.inspect("vault-de")
    await visit.press("language", "footer")
    await visit.told("Your vault")
    assert await visit.page.get_attribute("html", "lang") == "en"
    await visit.page.context.set_offline(True)
    await visit.told("This device is offline", "footer")
    await visit.press("refresh")
    await visit.told("no connection to the service", '[data-card="account"]')
    await visit.inspect("vault-offline")
    await visit.page.context.set_offline(False)
    await visit.page.locator("footer", has_not_text="offline").wait_for()


async def test_a_chosen_name_colour_and_logo(browser: Browser, serve: Callable[..., Server], tmp_path: Path) -> None:
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>')
    server = serve(pages_name="Bank <of> Tests", pages_colour="#8a1c5b", pages_logo=str(logo), pages_languages="de")
    context = await browser.new_context()
    origins = requested(context)
    visit = await Visit.of(context, server)
    await visit.told("Bank <of> Tests", "header")
    await visit.inspect("start-operator")
    button = "getComputedStyle(document.querySelector('[data-name=register]')).backgroundColor"
    assert await visit.page.evaluate(button) == "rgb(138, 28, 91)"
    assert await visit.page.evaluate("document.querySelector('header img').naturalWidth") > 0
    assert await visit.page.get_attribute("html", "lang") == "de", "the browser wants English, the operator has German"
    assert await visit.page.locator('[data-name="language"]').count() == 0
    for path in ("/pay/confirm", "/connect", "/vault"):
        await visit.open(path)
        await visit.told("Bank <of> Tests", "header")
        assert await visit.page.get_attribute("html", "lang") == "de"
        colour = "getComputedStyle(document.documentElement).getPropertyValue('--brand').trim()"
        assert await visit.page.evaluate(colour) == "#8a1c5b"
        assert await visit.page.evaluate("document.querySelector('header img').naturalWidth") > 0
    assert origins == {f"http://localhost:{server.port}"}, "no page asks a third party"


async def test_passkeys_are_made_for_the_chosen_name(browser: Browser, serve: Callable[..., Server]) -> None:
    context = await browser.new_context()
    await context.add_init_script("""
      window.parties = [];
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = (options) => (parties.push(options.publicKey.rp.name), create(options));
    """)
    visit = await Visit.of(context, serve(pages_name="Acme Vault"))
    await visit.choose("handle", "alice")
    await visit.press("create")
    await visit.screen("safety")
    await visit.authenticator.add(transport="usb")
    await visit.press("second")
    await visit.told("The second passkey is ready.", "#status")
    assert await visit.page.evaluate("parties") == ["Acme Vault", "Acme Vault"]


TWO_VAULTS = """async ([credential, passwords]) => {
  const { Client } = await import("/client/holdfast.js");
  const dids = [];
  for (const password of passwords) {
    const client = new Client({ snapshots: false });
    await client.boot();
    dids.push((await client.vault.generate({ credential }, { kind: "password", password })).did);
    await client.close();
  }
  return dids;
}"""


async def test_each_of_two_vaults_opens_with_its_own_password(browser: Browser, server: Server) -> None:
    """A password does not say which vault it opens, so the person chooses."""
    visit = await Visit.of(browser, server, "/vault")
    await visit.screen("none")
    passwords = [PASSWORD, "another correct horse"]
    dids = await visit.page.evaluate(TWO_VAULTS, [PASSKEY.credential, passwords])
    for did, password in zip(dids, passwords, strict=True):
        await visit.open("/vault")
        await visit.screen("unlock")
        await visit.press("use-password")
        await visit.page.locator('[name="which"]').select_option(did)
        await visit.inspect("unlock-which")
        await visit.fill("password", password)
        await visit.press("submit")
        await visit.screen("home")
        assert await visit.text('[data-name="did"]') == did


async def test_a_browser_that_stores_nothing_is_told_what_to_allow(
    storing_nothing: BrowserContext, server: Server
) -> None:
    for path, screen in (("/vault", "blocked"), ("/", "start")):
        visit = await Visit.of(storing_nothing, server, path)
        await visit.screen(screen)
        await visit.told("Allow cookies and site data for this site")
        assert await visit.page.locator('[data-name="register"]').count() == 0
        await visit.inspect(f"stores-nothing-{screen}")
