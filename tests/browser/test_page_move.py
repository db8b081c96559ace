"""A person moves from one service to another on the pages: two hosts, and a window between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.support.page_visits import GENEROUS, GERMAN, Visit, new_name
from tests.support.passkeys import Authenticator

from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, Request
    from tests.support.serving import Server

pytestmark = pytest.mark.timeout(300)


@dataclass
class Place:
    """A service under its host."""

    server: Server
    host: str

    @property
    def url(self) -> str:
        return f"http://{self.host}"


class At(Visit):
    """A visit at a service's public host, where its passkeys work."""

    at = ""

    async def open(self, path: str) -> None:
        await self.page.goto(f"{self.at}{path}")


def placed(serve: Callable[..., Server], name: str) -> Place:
    port = free_port()
    host = f"{name}.localhost:{port}"
    return Place(serve(port=port, public_url=f"http://{host}", **GENEROUS), host)


async def test_a_person_moves_after_a_window_was_closed(browser: Browser, serve: Callable[..., Server]) -> None:
    old, new = placed(serve, "old"), placed(serve, "new")
    context = await browser.new_context()
    visit = At(await context.new_page(), old.server)
    visit.at, visit.authenticator = old.url, await Authenticator.of(visit.page)
    addresses: list[str] = []
    context.on("request", lambda asked: addresses.append(_address(asked)))
    await visit.open("/")
    name = new_name()
    await visit.register(name)
    former = await visit.page.locator("[data-credential]").first.get_attribute("data-credential") or ""
    await names_the_new_service(visit, old, new)
    await visit.told(name)
    await visit.inspect("move-review")
    await closes_the_window(visit, old, new)
    window = await the_window(visit, new)
    await window.told(f"{old.url} wants to move the vault of “{name}” to {new.host}.")
    await window.inspect("move-make")
    await window.press("make")
    await visit.screen("move-done")
    await visit.told(f"{name} is at {new.host} now.")
    await visit.inspect("move-done")
    assert await visit.page.get_attribute('[data-name="there"]', "href") == f"{new.url}/vault"
    assert (is_free(old, name), is_free(new, name), finds(old, former)) == (True, False, False)
    assert visit.complaints == [] and window.complaints == []
    opened = {address for address in addresses if address.startswith(f"{new.url}/move")}
    assert opened <= {f"{new.url}/move#passkey", f"{new.url}/move"}


async def names_the_new_service(visit: Visit, old: Place, new: Place) -> None:
    await visit.press("leave")
    await visit.press("move")
    await visit.screen("move")  # conditional mediation: the authenticator responds to the pending request
    await visit.inspect("move")
    await visit.fill("host", f"{new.url}/vault")
    await visit.press("submit")
    await visit.told("without anything after the name")
    await visit.fill("host", old.url)
    await visit.press("submit")
    await visit.alerted("That is the service that you are at.")
    await visit.fill("host", new.url)
    await visit.press("submit")
    await visit.screen("move-review")
    await visit.told(new.host)


async def closes_the_window(visit: Visit, old: Place, new: Place) -> None:
    await visit.fill("again", old.host)
    await visit.press("submit")
    await visit.told(f"That is not {new.host}.")
    await visit.fill("again", new.host)
    window = await the_window(visit, new)
    await window.page.close()
    await visit.alerted("was closed. Nothing was moved.")


async def the_window(visit: Visit, new: Place) -> Visit:
    """Go on, and return the new service's window."""
    async with visit.page.expect_popup() as opening:
        await visit.press("submit")
    window = Visit(await opening.value, new.server)
    window.authenticator = await Authenticator.of(window.page)
    await window.screen("move-make")
    return window


def is_free(at: Place, name: str) -> bool:
    with at.server.client() as client:
        return client.get(f"/api/sessions/check?handle={name}").json()["available"] is True


def finds(at: Place, credential_id: str) -> bool:
    with at.server.client() as client:
        return client.get(f"/api/dids/lookup?credentialId={credential_id}").json()["found"] is True


def _address(asked: Request) -> str:
    return asked.url


async def test_the_window_makes_no_passkey_for_a_page_that_did_not_ask(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    visit = await Visit.of(await browser.new_context(**GERMAN), serve(), "/move#passkey")
    await visit.told("Keine Seite hat hier um einen Passkey gebeten.")
    await visit.inspect("move-none")
    assert await visit.page.locator('[data-name="make"]').count() == 0
