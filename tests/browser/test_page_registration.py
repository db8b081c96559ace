"""Registration on the start page, in a real Chromium with a virtual authenticator and a running service."""

import contextlib
import sqlite3

from tests.support.page_visits import Visit, new_name


def is_free(server, name):
    with server.client() as client:
        found = client.get("/api/sessions/check", params={"identifier": name}).json()
    assert found.get("reason") in (None, "taken")
    return bool(found["available"])


NO_CONNECTION = "No connection to the service. We keep your place."


async def test_an_interrupted_registration_goes_on(browser, shared):
    context, name = await browser.new_context(), new_name()
    visit = await Visit.of(context, shared)
    await visit.choose("handle", name, then="passkey")
    other = await Visit.of(context, shared)
    await other.press("continue", alert="You are registering in another tab.")
    await other.page.close()
    # Registration is interrupted after the name is chosen, and while the service is unreachable, after the vault is
    # stored.
    await visit.open("/", then="resume")
    await visit.inspect("resume")
    await visit.page.route("**/api/sessions", fails)
    await visit.press("continue", then="passkey")
    await visit.press("create", then="finish-failed", alert=NO_CONNECTION)
    await visit.inspect("finish-failed")
    await visit.page.unroute("**/api/sessions")
    await visit.open("/")
    await visit.press("continue", then="safety")
    assert len(await visit.authenticator.credentials()) == 1
    assert not is_free(shared, name)
    await registers_again(visit, name)


async def fails(route):
    await route.abort()


async def registers_again(visit, name):
    """Register the vault of a person whose registration the service does not have any more."""
    await visit.open("/vault", then="home")
    await visit.told("At this service only.", '[data-card="identity"]')
    await visit.press("delegate", then="delegate")
    await visit.page.go_back()
    await visit.screen("home")
    # What a chain's refusal leaves behind: the handle's session, and no credential that a look-up finds.
    with contextlib.closing(sqlite3.connect(visit.server.data / "holdfast.db", timeout=60)) as database, database:
        refused = "UPDATE credentials SET confirmation = 'refused', settled_at = created_at WHERE identifier = ?"
        assert database.execute(refused, [name]).rowcount == 1
    await visit.open("/vault", then="home")
    await visit.told("Not registered at this service yet.", '[data-card="identity"]')
    await visit.inspect("vault-unregistered")
    await visit.press("register", '[data-card="identity"]', then="choose")
    assert await visit.page.input_value('[name="handle"]') == name
    await visit.press("submit", then="safety")
    await visit.press("later")
    await visit.told(f"Registered as {name}", '[data-card="identity"]')
    assert len(await visit.authenticator.credentials()) == 1
    assert visit.complaints == []
