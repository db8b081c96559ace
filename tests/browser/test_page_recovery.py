"""The pages restore a vault in a new browser profile, from the synced passkey alone or from a backup file without a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.page_visits import Visit
from tests.support.synced_passkeys import exported, note_secret, synced

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.async_api import Browser
    from tests.support.serving import Server

APP = "did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA"
KEPT = '[data-status="pinned"]'


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def first_profile(browser: Browser, server: Server) -> Visit:
    """Register a person, grant a permission, and wait until the service stores the vault's newest version."""
    visit = await Visit.of(await browser.new_context(), server, "/docs")
    await note_secret(visit.page)
    await visit.open("/")
    await visit.register("alice")
    await visit.press("delegate")
    await visit.fill("to", APP)
    await visit.fill("limit", "12,50")
    await visit.press("submit")
    await visit.screen("delegated")
    await visit.press("done")
    await visit.screen("home")
    await visit.page.locator(KEPT).wait_for()
    return visit


async def new_profile(browser: Browser, server: Server, passkey: tuple[dict[str, Any], list[int]], path: str) -> Visit:
    """Open another browser profile, to which a password manager has synced the passkey."""
    visit = Visit(await (await browser.new_context()).new_page(), server)
    visit.authenticator = await synced(visit.page, *passkey)
    await visit.open(path)
    return visit


async def seen(visit: Visit) -> list[str]:
    """Return the identity and permissions on the vault's screen; without a chain there is no account to show."""
    shown = "[...document.querySelectorAll('[data-name=did], [data-card=identity], [data-cid]')]"
    await visit.told(f"{APP} may ask for up to 12.50 USDC until", "[data-cid]")
    texts: list[str] = await visit.page.evaluate(f"{shown}.map((it) => it.textContent)")
    assert len(texts) == 3, "a permission is listed, and not the delegation to the vault's own publishing key"
    return texts


async def test_the_passkey_alone_brings_the_vault_to_a_new_profile(browser: Browser, server: Server) -> None:
    first = await first_profile(browser, server)
    await first.inspect("vault-kept")
    before = await seen(first)
    passkey = await exported(first.page, first.authenticator)
    await first.page.context.close()

    second = await new_profile(browser, server, passkey, "/")
    await second.screen("start")
    await second.press("return")
    await second.screen("none")
    await second.inspect("none")
    await second.press("recover")
    await second.screen("home")
    await second.told("Your vault is here, as it was on", "#status")
    await second.inspect("recovered")
    assert await seen(second) == before
    await second.told("The newest version is saved.", '[data-card="snapshots"]')
    await second.open("/vault")  # from now on, this browser has the vault
    await second.screen("home")
    assert second.complaints == []


async def test_what_goes_wrong_is_said_and_a_file_helps(browser: Browser, server: Server, tmp_path: Path) -> None:
    first = await first_profile(browser, server)
    before = await seen(first)
    passkey = await exported(first.page, first.authenticator)
    async with first.page.expect_download() as download:
        await first.press("snapshot-save")
    file = tmp_path / "vault.car"
    await (await download.value).save_as(file)
    half = tmp_path / "half.car"
    half.write_bytes(file.read_bytes()[:-100])

    second = await new_profile(browser, server, passkey, "/vault")
    await second.page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(body="another vault"))
    await second.press("recover")
    await second.screen("recover-failed")
    await second.alerted("The copy was changed, or belongs to someone else.")
    await second.inspect("recover-damaged")
    await second.page.unroute("**/ipfs/bafkrei*")
    await second.page.route("**/ipns/**", lambda route: route.fulfill(status=404, body="not found"))
    await second.page.route("**/api/snapshots/name*", lambda route: route.fulfill(json={"found": False}))
    await second.press("recover")
    await second.alerted("This service keeps no copy for this passkey.")
    await second.press("import")
    await second.screen("import")
    await second.inspect("import")
    await second.page.set_input_files('[name="file"]', half)
    await second.press("submit")
    await second.alerted("A part of the copy is missing.")
    await second.press("import")
    await second.page.set_input_files('[name="file"]', file)
    await second.fill("password", "wrong horse battery")
    await second.press("submit")
    await second.alerted("This key does not open the vault")
    await second.press("use-password")
    await second.screen("recover-password")
    await second.inspect("recover-password")
    await second.press("back")
    await second.screen("none")
    await second.press("import")
    await second.page.set_input_files('[name="file"]', file)
    await second.press("submit")
    await second.screen("home")
    assert await seen(second) == before
    assert second.complaints == []


async def test_two_browsers_that_both_changed_choose(browser: Browser, server: Server) -> None:
    first = await first_profile(browser, server)
    passkey = await exported(first.page, first.authenticator)
    second = await new_profile(browser, server, passkey, "/vault")
    await second.press("recover")
    await second.screen("home")
    async with second.page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        await second.press("revoke")
        await second.press("yes")
        await second.told("withdrawn", '[data-card="delegations"]')
    await first.press("rename", "[data-credential]")
    await first.fill("passkey-name", "First device")
    await first.press("submit", '[data-card="passkeys"]')
    await first.page.locator('[data-status="conflict"]').wait_for()
    await first.inspect("vault-conflict")
    await first.press("versions")
    await first.screen("versions")
    await first.press("submit")
    differences = '[data-name="differences"]'
    await first.told("Passkeys: 0 only here, 0 only there, 1 different", differences)
    await first.told("Permissions: 0 only here, 0 only there, 1 different", differences)
    await first.inspect("versions")
    await first.press("there")
    await first.screen("home")
    await first.told("withdrawn", '[data-card="delegations"]')
    await first.told("The newest version is saved.", '[data-card="snapshots"]')
    assert first.complaints == [] == second.complaints


async def test_a_browser_that_deleted_its_vault_gets_it_back(browser: Browser, serve: Callable[..., Server]) -> None:
    """The operator has set the service's DID, so the page must use this DID as the audience of the vault's tokens."""
    visit = await first_profile(browser, serve(HOLDFAST_REGISTRAR_DID="did:web:registrar.example"))
    await visit.open("/docs")
    await visit.page.evaluate(
        "new Promise((done) => { indexedDB.deleteDatabase('holdfast-vault').onsuccess = () => done(null); })"
    )
    await visit.page.evaluate("localStorage.setItem('holdfast-language', 'de')")
    await visit.open("/vault")
    await visit.screen("cleared")
    await visit.inspect("cleared-de")
    await visit.press("recover")
    await visit.screen("home")
    await visit.told("Ihr Tresor ist hier", "#status")
    assert visit.complaints == []
