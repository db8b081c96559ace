"""A person moves from one service to another on the pages: two services of one chain, and a window between them."""

from dataclasses import dataclass
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.support.page_visits import GERMAN, Visit, person
from tests.support.passkeys import Authenticator

pytestmark = pytest.mark.timeout(300)


@dataclass
class Place:
    """A service under its host."""

    url: str

    @property
    def host(self):
        return urlsplit(self.url).netloc

    @property
    def server(self):
        return SimpleNamespace(port=urlsplit(self.url).port)


@pytest.mark.soak  # vectors/flows/move.json moves in the gate, with both clients
async def test_a_person_moves_after_a_window_was_closed(browser, chain, tmp_path):
    """The old passkey owns the account, and ends with the change that makes the new one an owner."""
    other = chain.another(tmp_path / "new", chain.bundler_url)
    old, new = (Place(it.base_url.replace("127.0.0.1", "localhost")) for it in (chain, other))
    visit, name, account = await person(browser, chain)
    addresses = []
    visit.page.context.on("request", lambda asked: addresses.append(asked.url))
    former = await visit.page.locator("[data-credential]").first.get_attribute("data-credential") or ""
    await the_passkey_owns_the_account(visit)
    await names_the_new_service(visit, old, new)
    await visit.told(name)
    await visit.inspect("move-review")
    await closes_the_window(visit, old, new)
    window = await the_window(visit, new)
    await window.told(f"{old.url} wants to move the vault of “{name}” to {new.host}.")
    await window.inspect("move-make")
    await window.page.locator('[data-name="make"]:not([aria-disabled])').click()  # it ignores earlier clicks
    await visit.page.locator("dialog").wait_for()
    await visit.inspect("move-former")
    await visit.press("yes", "dialog", then="move-done")
    await visit.told(f"{name} is at {new.host} now.")
    await visit.told("The new passkey is a key of your account.")
    await visit.inspect("move-done")
    assert await visit.page.get_attribute('[data-name="there"]', "href") == f"{new.url}/vault"
    assert (is_free(old, name), is_free(new, name), finds(old, former)) == (True, False, False)
    assert chain.call(account, "accountSettings()")[2 * 32 : 3 * 32][-1] == 2  # the vault's key and the new passkey
    assert visit.complaints == [] and window.complaints == []
    opened = {address for address in addresses if address.startswith(f"{new.url}/move")}
    assert opened <= {f"{new.url}/move#passkey", f"{new.url}/move"}


async def the_passkey_owns_the_account(visit):
    await visit.press("keys", then="keys")
    await visit.press("add-passkey")
    await visit.page.locator('main[data-screen="keys"] #status:not(:empty)').wait_for()
    await visit.press("back")


async def names_the_new_service(visit, old, new):
    await visit.press("leave")
    await visit.press("move")
    await visit.screen("move")  # conditional mediation: the authenticator responds to the pending request
    await visit.inspect("move")
    await visit.submit(host=f"{new.url}/vault")
    await visit.told("without anything after the name")
    await visit.submit(host=old.url, alert="You are at this service already.")
    await visit.submit(host=new.url, then="move-review")
    await visit.told(new.host)


async def closes_the_window(visit, old, new):
    await visit.submit(again=old.host)
    await visit.told(f"That is not {new.host}.")
    await visit.fill("again", new.host)
    window = await the_window(visit, new)
    await window.page.close()
    await visit.alerted("was closed. Nothing was moved.")


async def the_window(visit, new):
    """Go on, and return the new service's window."""
    async with visit.page.expect_popup() as opening:
        await visit.press("submit")
    window = Visit(await opening.value, new.server)
    window.authenticator = await Authenticator.of(window.page)
    await window.screen("move-make")
    return window


def is_free(at, name):
    return httpx2.get(f"{at.url}/api/sessions/check?handle={name}").json()["available"] is True


def finds(at, credential_id):
    return httpx2.get(f"{at.url}/api/dids/lookup?credentialId={credential_id}").json()["found"] is True


async def test_the_window_makes_no_passkey_for_a_page_that_did_not_ask(browser, serve):
    visit = await Visit.of(await browser.new_context(**GERMAN), serve(), "/move#passkey")
    await visit.told("Keine Seite hat hier um einen Passkey gebeten.")
    await visit.inspect("move-none")
    assert await visit.page.locator('[data-name="make"]').count() == 0
