"""The page on which a person sees what the service stores, takes it back, and removes the vault from the browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.page_visits import GERMAN, Visit, new_name
from tests.support.running_service import RunningService

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser
    from tests.support.serving import Server


async def test_a_person_leaves(browser: Browser, shared: Server) -> None:
    visit = await Visit.of(browser, shared)
    name = new_name()
    await visit.register(name)
    scripts: list[str] = []
    visit.page.on("request", lambda request: scripts.append(request.url))
    await visit.press("leave")
    await visit.screen("leave")
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
    await visit.fill("code", RunningService(shared.url, shared.data).code_for(f"{name}@example.com"))
    await visit.told(f"{name}@example.com is added.", "#status")
    await visit.told("Names and addresses: 2. Passkeys: 1.")
    await visit.inspect("leave-added")
    await visit.page.locator('[data-name="free"]').nth(1).click()
    await visit.page.locator('dialog [data-name="yes"]').click()
    await visit.told("Names and addresses: 1. Passkeys: 1.")
    await visit.press("free")
    await visit.page.locator('dialog [data-name="no"]').click()
    await visit.press("free")
    await visit.page.locator('dialog [data-name="yes"]').click()
    await visit.told(f"{name} is free.", "#status")
    await visit.told("Names and addresses: 0. Passkeys: 0.")
    await visit.press("erase")
    await visit.told("This cannot be undone.", "dialog")
    await visit.inspect("leave-sure")
    await visit.page.locator('dialog [data-name="yes"]').click()
    await visit.told("Everything is deleted.", "#status")
    with shared.client() as client:
        assert client.get(f"/api/sessions/check?handle={name}").json()["available"] is True
    await visit.press("forget")
    await visit.page.locator('dialog [data-name="yes"]').click()
    await visit.screen("none")
    await visit.told("The vault is removed from this browser.", "#status")
    await visit.open("/vault")
    await visit.screen("none")
    assert visit.complaints == []


@pytest.mark.soak  # the gate leaves in English; test_page_vault.py walks in German
async def test_leaving_in_german_with_the_operators_links(browser: Browser, serve: Callable[..., Server]) -> None:
    server = serve(pages_imprint="https://a.example/imprint", pages_privacy="https://a.example/privacy?x=1&y=2")
    visit = await Visit.of(await browser.new_context(**GERMAN), server)
    links = visit.page.locator("#links a")
    assert await links.all_text_contents() == ["Impressum", "Datenschutz"]
    assert await links.nth(1).get_attribute("href") == "https://a.example/privacy?x=1&y=2"
    await visit.register(new_name())
    await visit.press("leave")
    await visit.screen("leave")
    await visit.told("Namen und Adressen: 1.")
    await visit.inspect("leave-de")
    await visit.press("language", "footer")
    await visit.told("Names and addresses: 1.")
    assert await links.all_text_contents() == ["Imprint", "Privacy"]


async def test_a_removed_passkey_leaves_the_service(browser: Browser, shared: Server) -> None:
    visit = await Visit.of(browser, shared)
    await visit.register(new_name())
    await visit.authenticator.add(transport="usb")
    first = await visit.page.locator("[data-credential]").first.get_attribute("data-credential")
    await visit.press("add-key")
    await visit.told("The passkey is ready.", "#status")
    with shared.client() as client:
        assert client.get(f"/api/dids/lookup?credentialId={first}").json()["found"] is True
        await visit.page.locator(f'[data-credential="{first}"] [data-name="remove"]').click()
        await visit.page.locator('dialog [data-name="yes"]').click()
        await visit.told("The passkey is removed.", "#status")
        assert client.get(f"/api/dids/lookup?credentialId={first}").json() == {"found": False}
