"""The pages restore a vault in a new browser profile, from the synced passkey alone or from a backup file without a password."""

import asyncio

import pytest
from tests.support.page_visits import Visit, new_name
from tests.support.synced_passkeys import exported, note_secret, synced

APP = "did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA"
KEPT = '[data-status="pinned"]'
URL_SAFE = str.maketrans("+/", "-_")
# Whether the service has acknowledged the newest stored revision, and it has no wrap for this credential.
ACKNOWLEDGED_WITHOUT = """async (credential) => {
  const { VaultStore } = await import("/client/holdfast.js");
  const store = new VaultStore();
  const { did, revision, sealed } = await store.load();
  const state = await store.note(`snapshots:${did}`);
  await store.close();
  const bytes = Array.from(sealed, (it) => String.fromCharCode(it)).join("");
  return state?.acknowledgedRevision === revision && !bytes.includes(credential);
}"""
STORED = """async () => {
  const { VaultStore } = await import("/client/holdfast.js");
  const store = new VaultStore();
  const manifests = await store.manifests();
  await store.close();
  return manifests.length;
}"""


async def first_profile(browser, server):
    """Register a person, grant a permission, and wait until the service stores the vault's newest version."""
    visit = await Visit.of(await browser.new_context(), server, "/robots.txt")
    await note_secret(visit.page)
    await visit.open("/")
    await visit.register(new_name())
    await visit.press("delegate")
    await visit.submit(to=APP, limit="12,50", then="delegated")
    await visit.press("done", then="home")
    await visit.page.locator(KEPT).wait_for()
    return visit


async def new_profile(browser, server, passkey, path):
    """Open another browser profile, to which a password manager has synced the passkey."""
    visit = Visit(await (await browser.new_context()).new_page(), server)
    visit.authenticator = await synced(visit.page, *passkey)
    await visit.open(path)
    return visit


async def seen(visit):
    """Return the identity and permissions on the vault's screen; without a chain there is no account to show."""
    shown = "[...document.querySelectorAll('[data-name=did], [data-card=identity], [data-cid]')]"
    await visit.told(f"{APP} may ask for up to 12.50 USDC until", "[data-cid]")
    texts = await visit.page.evaluate(f"{shown}.map((it) => it.textContent)")
    assert len(texts) == 3, "a permission is listed, and not the delegation to the vault's own publishing key"
    return texts


@pytest.mark.soak  # vectors/flows recover from files in the gate
async def test_a_backup_file_alone_brings_the_vault_to_the_passkey(browser, shared, tmp_path):
    first = await first_profile(browser, shared)
    async with first.page.expect_download() as download:
        await first.press("snapshot-save")
    file = tmp_path / "vault.car"
    await (await download.value).save_as(file)
    second = await new_profile(browser, shared, await exported(first.page, first.authenticator), "/vault")
    await second.page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(body="another vault"))
    await second.press("recover", then="recover-failed", alert="The copy was changed, or belongs to someone else.")
    await second.inspect("recover-damaged")
    await second.press("import", then="import")
    await second.page.set_input_files('[name="file"]', file)
    await second.press("submit", then="home")
    assert await seen(second) == await seen(first)
    assert second.complaints == []


async def test_the_passkey_alone_brings_the_vault_and_two_that_changed_it_choose(browser, shared):
    first = await first_profile(browser, shared)
    second = await new_profile(browser, shared, await exported(first.page, first.authenticator), "/")
    await recovers(second)
    assert await seen(second) == await seen(first)
    await second.told("The newest version is saved.", '[data-card="snapshots"]')
    await second.open("/vault")  # from now on, this browser has the vault
    await second.screen("home")
    async with second.page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        await second.press("revoke")
        await second.press("yes")
        await second.told("withdrawn", '[data-card="delegations"]')
    await first.page.bring_to_front()
    await first.press("rename", "[data-credential]")
    await first.fill("passkey-name", "First device")
    await first.press("submit", '[data-card="passkeys"]')
    await first.page.locator('[data-status="conflict"]').wait_for()
    await first.inspect("vault-conflict")
    await chooses_the_other(first)
    assert first.complaints == [] == second.complaints


async def recovers(visit):
    await visit.screen("start")
    await visit.press("return", then="none")
    await visit.inspect("none")
    await visit.press("stuck", then="stuck")
    await visit.inspect("stuck")
    await visit.press("recover", then="home", status="Your vault is here, as it was on")


async def chooses_the_other(visit):
    """See what differs between the two versions, and take the other browser's."""
    await visit.press("versions", then="versions")
    await visit.press("submit")
    differences = '[data-name="differences"]'
    await visit.told("Passkeys: 0 only here, 0 only there, 1 different", differences)
    await visit.told("Permissions: 0 only here, 0 only there, 1 different", differences)
    await visit.inspect("versions")
    await visit.press("there", then="home")
    await visit.told("withdrawn", '[data-card="delegations"]')
    await visit.told("The newest version is saved.", '[data-card="snapshots"]')


@pytest.mark.soak  # vectors/flows refuse older copies in the gate
async def test_a_copy_older_than_the_newest_is_used_only_if_the_person_says_so(browser, shared):
    """The first profile replaces its passkey by another. The service keeps the earlier copies pinned."""
    first = await Visit.of(await browser.new_context(), shared, "/robots.txt")
    await note_secret(first.page)
    await first.open("/")
    await first.register(new_name())
    await first.page.locator(KEPT).wait_for()
    passkey = await exported(first.page, first.authenticator)
    await replaces_its_passkey(first, passkey[0]["credentialId"].translate(URL_SAFE).rstrip("="))
    second = await new_profile(browser, shared, passkey, "/vault")
    await second.press("recover")
    await asked(second, "The newest copy, from ", " cannot be opened with this key. The one from ")
    await second.inspect("recover-older")
    await second.press("no", then="recover-failed", alert="This key does not open the newest copy, only an older one.")
    assert await second.page.locator('[data-name="use-password"]').count() == 1
    assert await second.page.evaluate(STORED) == 0
    await second.page.evaluate("localStorage.setItem('holdfast-language', 'de')")
    await second.open("/vault")
    await second.press("recover")
    await asked(second, "Die neueste Kopie, vom ", " Schlüssel nicht öffnen. Die vom ")
    await second.press("yes", then="home")
    await second.told("lässt sich mit diesem Schlüssel nicht öffnen. Ihr Tresor ist hier im Stand vom", "#status")
    await second.page.locator('[data-status="conflict"]').wait_for()
    assert first.complaints == [] == second.complaints


async def replaces_its_passkey(visit, credential):
    """Add a passkey, remove the given one and publish, while pins of earlier copies cannot be removed."""
    await visit.page.route(
        "**/pins/*", lambda route: route.fulfill(status=500) if route.request.method == "DELETE" else route.continue_()
    )
    await visit.authenticator.add(transport="usb")
    await visit.press("add-key", status="The passkey is ready.")
    await visit.press("remove", f'[data-credential="{credential}"]')
    await visit.press("yes", status="The passkey is removed.")
    while not await visit.page.evaluate(ACKNOWLEDGED_WITHOUT, credential):
        await asyncio.sleep(0.05)


async def asked(visit, *words):
    await visit.page.locator("dialog[open]").wait_for()
    question = await visit.text("dialog[open] p")
    assert all(it in question for it in words), question
