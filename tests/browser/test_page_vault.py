"""The vault page, in a real Chromium with a virtual authenticator and a running service."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.outboxes import codes_to
from tests.support.page_visits import DELETED, GERMAN, MOVING, SIZES, Visit, new_name, requested, safe, tried

PASSWORD = "correct horse battery"
# What screen readers call the buttons of the screen.
BUTTONS = "[...document.querySelectorAll('#screen button')].map((it) => it.ariaLabel ?? it.textContent)"

# The elements that extend beyond their card, and the buttons narrower than their words, when text is twice as large.
OUTSIDE = """() => {
  const large = new CSSStyleSheet();
  large.replaceSync("html { font-size: 200% }");
  document.adoptedStyleSheets = [large];
  const right = (it) => it.getBoundingClientRect().right;
  const found = [...document.querySelectorAll("main *")].filter((it) => right(it) > right(it.closest(".card, main")) + 1
    || it.localName === "button" && it.scrollWidth > it.clientWidth + 1);
  document.adoptedStyleSheets = [];
  return found.map((it) => it.outerHTML.slice(0, 80));
}"""


async def test_a_person_registers_changes_passkeys_and_leaves(browser, shared):
    """What single screens say is tested in browser/test/screens.test.js."""
    visit, name = await Visit.of(browser, shared), new_name()
    await visit.screen("start")
    await visit.inspect("start")
    await registers(visit, name)
    first = await visit.page.locator("[data-credential]").first.get_attribute("data-credential") or ""
    did = await visit.text('[data-name="did"]')
    names = await visit.page.evaluate(BUTTONS)
    assert len(set(names)) == len(names), "a screen reader can tell all buttons apart"
    assert names[0] == "Lock", "not at the end of a long page"
    assert re.fullmatch(r"[\w ]+, (Linux|macOS)", await visit.text("[data-credential] h3"))
    assert await visit.page.locator('[data-name="remove"]').count() == 0, "the only way in stays"
    await visit.open("/vault")  # conditional mediation: the authenticator responds to the pending request
    await visit.screen("home")
    assert await visit.text('[data-name="did"]') == did
    await waits_for_autofill(visit)
    await visit.press("lock", then="unlock", status="Your vault is locked.")
    await visit.press("passkey", then="home")
    await tries_a_second_passkey(visit)
    await removes_the_first_passkey(visit, first)
    await leaves(visit, name)
    assert visit.complaints == []


async def registers(visit, name):
    await visit.press("register", then="choose")
    await visit.press("submit")
    await visit.told("Fill in this field")
    await visit.fill("handle", "amazon.com")
    await visit.told("This reads as an account address or a website")
    await visit.inspect("choose-refused")
    await visit.fill("handle", name)
    await visit.told(f"{name} is free.")
    await visit.press("submit", then="passkey")
    await visit.press("create", then="safety")
    await visit.told(f"You are registered as {name}", "h1")
    assert await visit.page.locator("main button.main").all_text_contents() == ["Go to your vault"]
    await visit.press("later", then="home")
    await visit.told(f"Registered as {name}")
    (credential,) = await visit.authenticator.credentials()
    assert credential["isResidentCredential"]
    with visit.server.client() as client:
        assert client.get("/api/sessions/check", params={"identifier": name}).json()["reason"] == "taken"


async def waits_for_autofill(visit):
    """See the field for autofill while the authenticator does not respond, and open the vault with the button."""
    await visit.authenticator.send("setAutomaticPresenceSimulation", enabled=False)
    await visit.open("/vault", then="unlock")
    field = visit.page.locator('[name="username"]')
    assert await field.get_attribute("autocomplete") == "username webauthn"
    await visit.inspect("unlock")
    await visit.authenticator.send("setAutomaticPresenceSimulation", enabled=True)
    await visit.press("passkey")  # the pending request is replaced by the prompt
    await visit.screen("home")


async def tries_a_second_passkey(visit):
    """Add a passkey on a security key and try it in the recovery drill, while the vault stays open."""
    first = visit.authenticator.id
    await visit.authenticator.add(transport="usb")
    await visit.press("add-key", status="The passkey is ready.")
    assert not await tried(visit, "passkey"), "the passkey of every day says nothing about the other one"
    # Two virtual authenticators would respond immediately, and the one without the requested passkey would end the
    # request.
    await visit.authenticator.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": first})
    await visit.press("try-passkey", status="This passkey opens your vault.")
    assert await tried(visit, "passkey") and await safe(visit, "passkey") and not await safe(visit, "browser")


async def removes_the_first_passkey(visit, first):
    await visit.inspect("vault-two-passkeys")
    await visit.page.set_viewport_size(SIZES["360"])
    assert await visit.page.evaluate(OUTSIDE) == []
    await visit.page.set_viewport_size(SIZES["1280"])
    await visit.press("rename", "[data-credential]:last-child")
    await visit.fill("passkey-name", "Second device")
    await visit.press("submit", '[data-card="passkeys"]')
    await visit.told("Second device", '[data-card="passkeys"]')
    rows = visit.page.locator("[data-credential]", has_not_text="Second device")
    await rows.first.locator('[data-name="remove"]').click()
    await visit.page.locator("dialog[open]").wait_for()
    await visit.inspect("remove-dialog")
    await visit.press("yes", status="The passkey is removed.")
    assert len(await visit.authenticator.credentials()) == 1, "the second passkey stays in its authenticator"
    with visit.server.client() as client:
        assert client.get(f"/api/dids/lookup?credentialId={first}").json() == {"found": False}
    await visit.press("lock")
    await visit.press("passkey", then="home")
    assert await visit.page.locator("[data-credential]").count() == 1
    await visit.told("Second device", "[data-credential]")


async def leaves(visit, name):
    """See what the service stores, add an address, take everything back, and remove the vault from the browser."""
    scripts = []
    visit.page.on("request", lambda request: scripts.append(request.url))
    await visit.press("leave", then="leave")
    assert [url for url in scripts if "/client/" in url], "the screen is loaded when it is opened"
    await visit.told("Names and addresses: 1. Passkeys: 1.")
    await visit.inspect("leave")
    async with visit.page.expect_download() as downloading:
        await visit.press("download")
    found = json.loads(Path(await (await downloading.value).path()).read_text())
    assert [row["given"] for row in found["identifiers"]] == [name]
    await visit.page.get_by_label("Add an e-mail address").fill(f"{name}@example.com")
    await visit.press("submit")
    await visit.page.locator('[name="code"]').wait_for()  # which is there once the mail has been sent
    await visit.fill("code", codes_to(f"{name}@example.com", visit.server.data)[-1])
    await visit.told(f"{name}@example.com is added.", "#status")
    await visit.told("Names and addresses: 2. Passkeys: 1.")
    await visit.inspect("leave-added")
    await visit.page.locator('[data-name="free"]').nth(1).click()
    await visit.press("yes", "dialog")
    await visit.told("Names and addresses: 1. Passkeys: 1.")
    await visit.press("free")
    await visit.press("no", "dialog")
    await visit.press("free")
    await visit.press("yes", "dialog", status=f"{name} is free.")
    await visit.told("Names and addresses: 0. Passkeys: 0.")
    await visit.press("erase")
    await visit.told("This cannot be undone.", "dialog")
    await visit.inspect("leave-sure")
    await visit.press("yes", "dialog", status="Everything is deleted.")
    with visit.server.client() as client:
        assert client.get(f"/api/sessions/check?handle={name}").json()["available"] is True
    await visit.press("forget")
    await visit.press("yes", "dialog")
    await visit.screen("none")
    await visit.told("The vault is removed from this browser.", "#status")
    await visit.open("/vault", then="none")


async def test_a_permission_is_given_and_withdrawn(browser, shared):
    visit, name = await Visit.of(await browser.new_context(), shared), new_name()
    await visit.register(name)
    await visit.press("delegate", then="delegate")
    await visit.press("submit")
    await visit.told("This is not a DID.")
    await visit.inspect("delegate-refused")
    await visit.fill("to", "did:new:0x" + "ab" * 20)  # as long as an address
    await visit.press("submit")
    await visit.told("This is not a DID.")
    await visit.submit(to="did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA", limit="12,50", then="delegated")
    await visit.inspect("delegated")
    assert len(await visit.page.input_value("#permission")) > 100
    code = visit.page.locator("svg.qr")
    assert await code.get_attribute("aria-label"), "what the code is of"
    assert len(await code.locator("path").get_attribute("d") or "") > 1000
    await is_received(browser, shared, await visit.page.evaluate(COPIED))
    await visit.press("done")
    await visit.told("may ask for up to 12.50 USDC", '[data-card="delegations"]')
    await visit.press("revoke")
    await visit.press("yes")
    await visit.told("could ask for up to 12.50 USDC", '[data-card="delegations"]')
    await visit.told("withdrawn", '[data-card="delegations"]')
    await loses_its_vault(visit, name)


# What the button copies.
COPIED = """new Promise((told) => {
  navigator.clipboard.writeText = told;
  document.querySelector("[data-name=copy-link]").click();
})"""


async def is_received(browser, server, link):
    """Open the permission's link in another browser."""
    path = urlsplit(link)._replace(scheme="", netloc="").geturl()
    other = await Visit.of(await browser.new_context(), server, path)
    await other.screen("received")
    assert "may ask for up to 12.50 USDC" in await other.text('[data-name="sentence"]')
    await other.inspect("received")


async def loses_its_vault(visit, name):
    """Open the page in a browser that deleted its vault: it shows no form to unlock it."""
    await visit.open("/robots.txt")
    await visit.page.evaluate(DELETED)
    await visit.open("/vault", then="cleared")
    await visit.press("who", status=f"Your passkey belongs to {name}")
    await visit.press("import", then="import")


# Adds a step in progress to the screen, as during registration and recovery.
BUSY = """(() => {
  const [list, step] = ["ul", "li"].map((name) => document.createElement(name));
  list.className = "steps";
  step.dataset.state = "busy";
  list.append(step);
  document.getElementById("screen").append(list);
})()"""


async def test_the_pages_in_german_with_the_keyboard_alone(browser, shared):
    visit = await Visit.of(await browser.new_context(**GERMAN), shared)
    await visit.screen("start")
    assert await visit.page.get_attribute("html", "lang") == "de"
    await visit.inspect("start-de")
    assert await visit.page.evaluate(OUTSIDE) == []
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
    await keyboard.type(f"jörg{new_name()}")
    await keyboard.press("Enter")
    await visit.screen("passkey")
    assert await visit.page.evaluate("document.activeElement.tagName") == "H1"
    await visit.inspect("passkey-de")
    await keyboard.press("Tab")
    await keyboard.press("Enter")
    await visit.screen("safety")
    await visit.inspect("safety-de")
    assert await visit.page.evaluate(OUTSIDE) == []
    await visit.press("later", then="home")
    await visit.told("Ihr Tresor")
    await visit.inspect("vault-de")
    assert await visit.page.evaluate(OUTSIDE) == []
    await visit.press("language", "footer")
    await visit.told("Your vault")
    assert await visit.page.get_attribute("html", "lang") == "en"
    await visit.page.locator('main [data-name="refresh"]').wait_for()  # the account was read while online
    await visit.page.context.set_offline(True)
    await visit.told("This device is offline", "footer")
    await visit.press("refresh")
    await visit.told("no connection to the service", '[data-card="account"]')
    await visit.inspect("vault-offline")
    await visit.page.context.set_offline(False)
    await visit.page.locator("footer", has_not_text="offline").wait_for()


# Notes for whom passkeys are made.
PARTIES = """
  window.parties = [];
  const create = navigator.credentials.create.bind(navigator.credentials);
  navigator.credentials.create = (options) => (parties.push(options.publicKey.rp.name), create(options));
"""


@pytest.mark.soak  # settings that the pages only show
async def test_a_chosen_name_colour_and_logo(browser, serve, tmp_path):
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>')
    server = serve(pages_name="Bank <of> Tests", pages_colour="#8a1c5b", pages_logo=str(logo), pages_languages="de")
    context = await browser.new_context()
    await context.add_init_script(PARTIES)
    origins = requested(context)
    visit = await Visit.of(context, server)
    await visit.inspect("start-operator")
    button = "getComputedStyle(document.querySelector('[data-name=register]')).backgroundColor"
    assert await visit.page.evaluate(button) == "rgb(138, 28, 91)"
    assert await visit.page.locator('[data-name="language"]').count() == 0
    await visit.told("Bank <of> Tests", "header")
    assert await visit.page.get_attribute("html", "lang") == "de", "the browser wants English"
    assert await visit.page.evaluate("document.querySelector('header img').naturalWidth") > 0
    await visit.choose("handle", "alice")
    await visit.press("create", then="safety")
    assert await visit.page.evaluate("parties") == ["Bank <of> Tests"], "passkeys are made for the chosen name"
    assert origins == {f"http://localhost:{server.port}"}, "no page asks a third party"


async def test_a_password_locks_the_vault_where_passkeys_have_no_secret(browser, shared):
    visit = await Visit.of(browser, shared, hasPrf=False)
    await visit.choose("handle", new_name())
    await visit.press("create", then="password")
    await visit.inspect("password")
    await chooses_a_password(visit)
    await visit.screen("safety")
    assert "also the sealed copy of it that this service keeps" in await visit.text("main")
    await visit.open("/vault", then="unlock")
    await visit.press("use-password", then="unlock-password")
    await visit.submit(password="wrong horse here", alert="The password is not right.")
    await visit.submit(password=PASSWORD, then="home")


async def chooses_a_password(visit):
    for first, second, words in (("a" * 12, "a" * 12, "easy to guess"), (PASSWORD, PASSWORD + "s", "differ")):
        await visit.submit(new_password=first, new_password_again=second)
        await visit.told(words)
    await visit.submit(new_password_again=PASSWORD)
