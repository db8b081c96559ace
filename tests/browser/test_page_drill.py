"""The recovery drill on the vault page tests each way to recover the vault by opening a copy of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.support.held_requests import HeldRequests
from tests.support.page_visits import GERMAN, Visit
from tests.support.receivers import receiving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.async_api import Browser
    from tests.support.receivers import Receiver
    from tests.support.serving import Server

PASSWORD = "correct horse battery"


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def tried(visit: Visit, way: str) -> bool:
    return await visit.page.get_attribute(f'[data-way="{way}"]', "data-tried") == "true"


async def safe(visit: Visit, loss: str) -> bool:
    return await visit.page.get_attribute(f'[data-loss="{loss}"]', "data-safe") == "true"


async def backup(visit: Visit, file: Path) -> None:
    await visit.press("export")
    await visit.fill("new-password", PASSWORD)
    await visit.fill("new-password-again", PASSWORD)
    async with visit.page.expect_download() as download:
        await visit.press("submit")
    await (await download.value).save_as(file)
    await visit.screen("home")


async def test_the_file_and_the_other_device_are_tried(browser: Browser, server: Server, tmp_path: Path) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    assert not await safe(visit, "passkey") and not await safe(visit, "browser")
    drill = await visit.text('[data-card="drill"]')
    assert "If you lose this passkey: no other way has been tried." in drill and "Try a device that has it" in drill
    file = tmp_path / "backup.mtrv"
    await backup(visit, file)
    assert not await tried(visit, "file"), "a saved file is not a tried one"
    await visit.press("try-file")
    await visit.screen("drill-file")
    await visit.inspect("drill-file")
    await visit.page.set_input_files('[name="file"]', file)
    await visit.fill("password", "wrong horse battery")
    await visit.press("submit")
    await visit.alerted("The password is wrong, or the file is damaged.")
    await visit.fill("password", PASSWORD)
    await visit.press("submit")
    await visit.told("The file and its password open your vault.", "#status")
    assert await tried(visit, "file") and await safe(visit, "browser")
    assert "holdfast-trial" not in await visit.page.evaluate(
        "indexedDB.databases().then((all) => all.map((it) => it.name))"
    )

    other = await Visit.of(await browser.new_context(), server, "/vault")
    await other.press("import")
    await other.page.set_input_files('[name="file"]', file)
    await other.fill("password", PASSWORD)
    await other.press("submit")
    await other.screen("home")
    await visit.press("try-device")
    await visit.screen("drill-device")
    number = await visit.text('[data-name="number"]')
    await other.press("try-device")
    await other.press("answer-device")
    await other.inspect("drill-answer")
    await other.fill("number", number)
    await other.press("submit")
    answer = other.page.locator('[data-name="answer"]:not(:empty)')
    digits = await answer.text_content() or ""
    assert re.fullmatch(r"\d{6}", digits)
    await visit.fill("answer", f"{(int(digits) + 1) % 1_000_000:06d}")
    await visit.press("submit")
    await visit.alerted("The digits are not right.")
    await visit.inspect("drill-device")
    await visit.fill("answer", f"{digits[:3]} {digits[3:]}")
    await visit.press("submit")
    await visit.told("The other device has this vault.", "#status")
    assert await tried(visit, "device")
    assert visit.complaints == [] and other.complaints == []


async def test_the_newest_copy_at_the_service_is_read_and_opened(browser: Browser, server: Server) -> None:
    visit = await Visit.of(
        browser, server, hasUserVerification=True, defaultBackupEligibility=True, defaultBackupState=True
    )
    await visit.register("alice")
    await visit.page.locator('[data-status="pinned"]').wait_for()
    await visit.page.reload()
    await visit.screen("home")
    assert not await tried(visit, "copy") and not await safe(visit, "browser")
    await visit.page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(body="another vault"))
    await visit.press("try-copy")
    await visit.alerted("The copy was changed, or belongs to someone else.")
    assert not await tried(visit, "copy")
    await visit.page.unroute("**/ipfs/bafkrei*")
    await visit.press("try-copy")
    await visit.told("opens and has all your changes.", "#status")
    await visit.told("with the copy of", '[data-way="copy"]')
    assert await tried(visit, "copy") and await safe(visit, "browser"), "the passkey is in the password manager"
    await visit.inspect("drill-copy")
    assert "holdfast-trial" not in await visit.page.evaluate(
        "indexedDB.databases().then((all) => all.map((it) => it.name))"
    )
    assert visit.complaints == []


async def test_the_password_opens_the_vault_and_the_copy(browser: Browser, server: Server) -> None:
    visit = await Visit.of(await browser.new_context(**GERMAN), server, hasPrf=False)
    await visit.choose("handle", "alice")
    await visit.press("create")
    await visit.screen("password")
    await visit.fill("new-password", PASSWORD)
    await visit.fill("new-password-again", PASSWORD)
    await visit.press("submit")
    await visit.screen("safety")
    await visit.press("later")
    await visit.screen("home")
    await visit.page.locator('[data-status="pinned"]').wait_for()
    for way, screen, words in (
        ("password", "drill-password", "Das Passwort öffnet Ihren Tresor."),
        ("copy", "drill-copy", "öffnet sich und enthält"),
    ):
        await go_home(visit)
        assert not await tried(visit, way)
        await visit.key(f"try-{way}")
        await visit.screen(screen)
        await visit.inspect(f"{screen}-de")
        await visit.type("password", "wrong horse battery")
        await visit.page.keyboard.press("Enter")
        await visit.page.locator("#alert:not(:empty)").wait_for()
        await visit.type("password", PASSWORD)
        await visit.page.keyboard.press("Enter")
        await visit.told(words, "#status")
        assert await tried(visit, way)
    assert await safe(visit, "passkey") and await safe(visit, "browser")
    assert visit.complaints == []


async def go_home(visit: Visit) -> None:
    """Redraw the vault's screen, so that it shows the new state of the service's copy."""
    for _ in range(2):
        await visit.page.evaluate("document.querySelector('#screen h1').dataset.old = 'true'")
        await visit.press("language", "footer")
        await visit.page.locator('main[data-screen="home"] h1:not([data-old])').wait_for()


async def test_a_screen_that_comes_late_does_not_replace_the_one_that_the_person_chose(
    browser: Browser, server: Server
) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    held = await HeldRequests.of(visit.page, "**/api/dids/lookup*")
    await visit.press("language", "footer")
    await held.made()  # the vault's screen is being drawn again
    await visit.press("try-device")
    await visit.screen("drill-device")
    await held.release()
    await visit.screen("drill-device")
    # A change of language does not end the person's way to another screen.
    held = await HeldRequests.of(visit.page, "**/api/dids/lookup*")
    await visit.press("back")
    await held.made()
    await visit.press("language", "footer")
    await held.release()
    await visit.screen("home")


async def test_a_file_of_another_vault_is_told(browser: Browser, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "backup.mtrv"
    stranger = await Visit.of(await browser.new_context(), server)
    await stranger.register("bob")
    await backup(stranger, file)
    visit = await Visit.of(await browser.new_context(), server)
    await visit.register("alice")
    await backup(visit, tmp_path / "own.mtrv")
    await visit.press("try-file")
    await visit.page.set_input_files('[name="file"]', file)
    await visit.fill("password", PASSWORD)
    await visit.press("submit")
    await visit.alerted("This file holds another vault.")
    await visit.press("back")
    await visit.told("Registered as alice")
    assert not await tried(visit, "file")


async def test_a_second_passkey_is_tried_while_the_vault_stays_open(browser: Browser, server: Server) -> None:
    visit = await Visit.of(browser, server)
    await visit.register("alice")
    await visit.press("lock")
    await visit.press("passkey")
    await visit.screen("home")
    first = visit.authenticator.id
    await visit.authenticator.add(transport="usb")
    await visit.press("add-key")
    await visit.told("The passkey is ready.", "#status")
    assert not await tried(visit, "passkey"), "the passkey of every day says nothing about the other one"
    # Two virtual authenticators would respond immediately, and the one without the requested passkey would end the
    # request.
    await visit.authenticator.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": first})
    await visit.press("try-passkey")
    await visit.told("This passkey opens your vault.", "#status")
    assert await tried(visit, "passkey") and await safe(visit, "passkey") and not await safe(visit, "browser")


def last_code(post: Receiver, count: int) -> str:
    assert len(post.mails) == count
    del post.mails[:-1]
    found = re.search(r"\b(\d{6})\b", str(post.message().get_body(("plain",)).get_content()))
    assert found
    return found[1]


async def test_a_second_passkey_of_an_address_is_registered_with_one_more_code(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    async with receiving() as post:
        server = serve(mail_url=f"smtp://127.0.0.1:{post.port}", mail_from="codes@service.test")
        visit = await Visit.of(browser, server)
        await visit.choose("email", "ann@example.com")
        await visit.press("create")
        await visit.page.locator('[name="code"]').wait_for()
        await visit.fill("code", last_code(post, 1))
        await visit.screen("safety")
        await visit.press("later")
        await visit.screen("home")
        await visit.authenticator.remove()
        await visit.authenticator.add()
        await visit.press("add")
        await visit.page.locator('[name="code"]').wait_for()
        await visit.inspect("prove-passkey")
        await visit.press("prove-later")
        await visit.told("The service does not know this passkey yet.", '[data-card="passkeys"]')
        (second,) = await visit.authenticator.credentials()
        await visit.press("register-passkey")
        await visit.page.locator('[name="code"]').wait_for()
        await visit.fill("code", last_code(post, 3))
        await visit.told("The service knows the passkey now.", "#status")
        did = await visit.text('[data-name="did"]')
        assert await visit.page.locator('[data-name="register-passkey"]').count() == 0
    credential = second["credentialId"].replace("+", "-").replace("/", "_").rstrip("=")
    with server.client() as client:
        found = client.get("/api/dids/lookup", params={"credentialId": credential}).json()
    assert found["found"] is True and found["did"] == did and found["identifier"] == "ann@example.com"
    assert visit.complaints == []
