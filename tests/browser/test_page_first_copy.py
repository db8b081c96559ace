"""A new vault's first copy: a person who leaves after registering can come back, and the pages say only what is so."""

import asyncio

from tests.support.held_requests import HeldRequests
from tests.support.page_visits import Visit, new_name, safe, tried

DATABASES = "indexedDB.databases().then((all) => all.map((it) => it.name))"
UPLOAD = "**/api/v0/dag/import*"
MODULE = "**/snapshots/main.js"
SYNCED = {"hasUserVerification": True, "defaultBackupEligibility": True, "defaultBackupState": True}
# Whether the browser would ask before it closes the page.
ASKS = "!dispatchEvent(new Event('beforeunload', {cancelable: true}))"
# Whether the page has the vault open.
OPEN = "navigator.locks.query().then(({held}) => held.some(({name}) => name.startsWith('hf-vault:')))"
STEP = '[data-step="copy"][data-state="{}"]'


async def registering(browser, server, pattern):
    """Return a visit whose registration waits for the first copy, because certain requests are held back."""
    visit = await Visit.of(browser, server, **SYNCED)
    held = await HeldRequests.of(visit.page, pattern)
    await visit.open("/")  # anew, because the module may have been loaded already
    await visit.choose("handle", new_name(), then="passkey")
    await visit.press("create")
    await visit.page.locator(STEP.format("busy")).wait_for()
    return visit, held


async def test_a_registration_ends_when_the_copy_is_acknowledged(browser, shared):
    visit = await Visit.of(browser, shared, **SYNCED)
    await visit.choose("handle", new_name(), then="passkey")
    await visit.page.route(UPLOAD, lambda route: route.abort())
    await visit.press("create")
    await visit.told("The copy is not saved yet")
    await visit.inspect("finish-copy-failed")
    held = await HeldRequests.of(visit.page, UPLOAD)  # the route that aborts stays: the page also tries again by itself
    await visit.press("copy-now")  # a copy that failed is tried again when the person says so
    await held.made()
    assert await visit.page.evaluate(ASKS)
    await visit.page.locator('[data-name="copy-without"]').wait_for()
    await visit.inspect("finish-copy")
    await held.release()
    await visit.screen("safety")
    await visit.told("this service keeps a sealed copy of your vault")
    assert not await visit.page.evaluate(ASKS)
    await visit.press("later", then="home")
    await visit.told("The newest version is saved.")
    await visit.told("Never tried.", '[data-way="copy"]')
    await tries_the_copy(visit)
    assert visit.complaints == []


async def tries_the_copy(visit):
    """Try the copy in the recovery drill."""
    assert not await tried(visit, "copy") and not await safe(visit, "browser")
    await visit.press("try-copy", status="opens and has all your changes.")
    await visit.told("with the copy of", '[data-way="copy"]')
    assert await tried(visit, "copy") and await safe(visit, "browser"), "the passkey is in the password manager"
    assert "holdfast-trial" not in await visit.page.evaluate(DATABASES)


async def test_who_left_during_the_upload_has_a_copy_after_opening_the_vault_again(browser, shared):
    visit, upload = await registering(browser, shared, UPLOAD)
    await upload.made()  # only a request that waits is lost with the page
    await visit.page.unroute(UPLOAD)
    held = await HeldRequests.of(visit.page, MODULE)  # the vault is opened before this module is loaded
    await visit.open("/vault")
    while not await visit.page.evaluate(OPEN):
        await asyncio.sleep(0.1)
    await held.made()
    await held.release()
    await visit.screen("home")
    await visit.told("The newest version is saved.", '[data-card="snapshots"]')
