"""In a real Chromium with a running service, snapshots are uploaded automatically and can restore the vault."""

import asyncio
import json

import pytest
from tests.support.page_visits import new_name
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, new_page, outcome, visit
from tests.support.serving import PATIENCE_S
from tests.support.synced_passkeys import exported, note_secret, synced

QUICK = {"snapshots": {"debounceMs": 50}}
PASSWORD = "{kind: 'password', password: 'correct horse battery'}"
APP = "did:key:zDnaeiWRZUYZhVXTmCXHQJyRjZF6hKx3b6KYwpL8AhuMuJsrA"
# The client's snapshot statuses, in order.
WATCH = "window.told = []; client.vault.addEventListener('snapshot', ({detail}) => told.push(detail));"
# The client's boot status for snapshots, at every millisecond that the page has.
NOTE_BOOT_STATUS = "window.noted = []; setInterval(() => noted.push(client.bootStatus.helia), 1); null"
KEPT = """
async () => {
  window.store ??= new hf.VaultStore();
  const stored = await store.load((await client.vault.status()).did);
  return told.at(-1)?.status === "pinned" && stored.revision === told.at(-1).acknowledgedRevision;
}
"""
CONTENTS = """
async () => {
  const {did} = await client.vault.query();
  const list = async (table) => (await client.vault.exec(`resource:${table} action:list`)).result;
  const [accounts, delegations] = [await list("accounts"), await list("delegations")];
  return {did, accounts, delegations};
}
"""
DELEGATE = f"client.vault.delegate({{to: '{APP}', command: '/accounts/pay', caveats: {{}}, expiration: 4102444800}})"
PUBLISH = "return (await client.snapshots()).publish()"


async def first_device(browser, undeclared, options):
    """Return a page with a registered vault that a password also opens."""
    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(PATIENCE_MS)
    await note_secret(page)
    await visit(page, undeclared)
    page.authenticator = await Authenticator.of(page)
    await page.evaluate(CLIENT, options)
    await page.evaluate(WATCH)
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate(f"client.vault.addKey({PASSWORD})")
    await page.evaluate("(handle) => client.register({handle})", new_name())
    return page


async def became(page, condition):
    """Poll an expression until it is true, which is the only way of waiting that the page's CSP allows."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await page.evaluate(condition):
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise AssertionError(f"{condition} stayed false: {await page.evaluate('told')}") from error


async def pinned(page):
    """Wait until the newest revision is pinned, and return the snapshot state."""
    await became(page, KEPT)
    return await page.evaluate("told.at(-1)")


async def test_changes_go_up_and_a_synced_passkey_alone_brings_them_back(browser, undeclared):
    first = await first_device(browser, undeclared, QUICK)
    await pinned(first)
    await first.evaluate(DELEGATE)
    await pinned(first)
    told = await first.evaluate("told")
    assert [it["status"] for it in told][-3:] == ["pinning", "pinning", "pinned"], [it["reason"] for it in told]
    await became(first, "client.bootStatus.helia === true")
    await a_failure_is_told_with_its_reason_and_tried_again(first)
    state = await pinned(first)
    contents = await first.evaluate(CONTENTS)
    assert contents["delegations"] and contents["accounts"]
    credential, secret = await exported(first, first.authenticator)

    second = await (await browser.new_context()).new_page()
    await synced(second, credential, secret)
    await visit(second, undeclared)
    await second.evaluate(CLIENT, QUICK)
    found = await outcome(second, """
      const steps = [];
      const found = await client.recover({onProgress: (step) => steps.includes(step) || steps.push(step)});
      return {...found, steps};
    """)  # fmt: skip
    assert found["value"]["steps"] == [
        "passkey chosen", "record verified", "fetching", "snapshot verified", "vault opened",
    ]  # fmt: skip
    assert found["value"]["rootCid"] == state["acknowledgedRoot"]
    assert await second.evaluate(CONTENTS) == contents
    await second.evaluate(WATCH)
    await second.evaluate(DELEGATE)
    assert (await pinned(second))["sequence"] == state["sequence"] + 1
    # The first device was offline, so it reports a conflict when it also changes the vault.
    await first.evaluate(DELEGATE)
    await became(first, "told.at(-1).status === 'conflict'")


async def a_failure_is_told_with_its_reason_and_tried_again(page):
    full = {"error": {"reason": "INSUFFICIENT_FUNDS", "details": "16 of 16 MiB are used"}}
    answers = [json.dumps(full)]

    async def refuse(route):
        if answers:
            await route.fulfill(status=409, body=answers.pop(), content_type="application/json")
        else:
            await route.continue_()

    await page.route("**/api/v0/dag/import*", refuse)
    await page.evaluate("told.length = 0")
    await page.evaluate(NOTE_BOOT_STATUS)
    await page.evaluate(DELEGATE)
    # The next attempt, after five seconds, may begin before this test looks.
    await became(page, "told.some(({status}) => status === 'failed')")
    await became(page, "noted.includes(false)")
    await pinned(page)
    told = await page.evaluate("told")
    statuses = [it["status"] for it in told]
    assert told[statuses.index("failed")]["reason"] == "INSUFFICIENT_FUNDS: 16 of 16 MiB are used"
    assert statuses.index("failed") < statuses.index("queued", statuses.index("failed")), "failed becomes queued"
    await became(page, "client.bootStatus.helia === true")  # a moment after the snapshot's own event

    await page.context.set_offline(True)
    await page.evaluate(DELEGATE)
    await became(page, "told.at(-1).status === 'failed' && told.at(-1).reason.startsWith('Network')")
    await page.context.set_offline(False)  # uploaded at once, without waiting for the next attempt
    await pinned(page)
    await page.unroute("**/api/v0/dag/import*")


@pytest.mark.soak  # vectors/flows tell conflicts in the gate, test_page_recovery.py lets a person choose
async def test_two_devices_that_both_changed_are_told_apart(browser, undeclared):
    first = await first_device(browser, undeclared, {"snapshots": {"automatic": False, "debounceMs": 1}})
    await first.evaluate("client.snapshots()")
    await first.evaluate(DELEGATE)
    assert await first.evaluate("told") == [], "nothing is uploaded unless asked for"
    published = await outcome(first, PUBLISH)
    assert published.get("value", {}).get("status") == "pinned", published
    second = await without_prf(browser, undeclared, first)
    await without_ed25519(first, second)
    refused = await outcome(second, "return client.recover()")
    assert (refused["name"], refused["code"]) == ("RecoveryRefused", "no_prf"), refused
    await one_of_two_gateways_lies(second, f"http://localhost:{undeclared.port}")
    found = await outcome(second, f"return client.recover({{passkey: await hf.usePasskey(), key: {PASSWORD}}})")
    assert found["value"]["sequence"] == 1, found
    await they_both_change(first, second)
    await a_second_vault_is_published_under_its_own_name(second)


async def without_prf(browser, undeclared, first):
    """Return a page in a new profile, whose authenticator has the first device's passkey, but no PRF."""
    (credential,) = await first.authenticator.credentials()
    page = await new_page(await browser.new_context(), undeclared)
    authenticator = await Authenticator.of(page, hasPrf=False)
    await authenticator.send("addCredential", credential=credential)
    await page.evaluate(
        CLIENT, {"snapshots": {"automatic": False, "gatewayUrl": f"http://localhost:{undeclared.port}/elsewhere"}}
    )
    await page.evaluate(WATCH)
    page.authenticator = authenticator
    return page


async def without_ed25519(first, second):
    """A browser that cannot verify Ed25519 signatures accepts no published snapshot, but can read a snapshot file."""
    name = await first.evaluate("client.vault.publishingKey().then(({name}) => name)")
    car = await first.evaluate("client.snapshots().then(async (it) => Array.from(await it.file()))")
    await second.evaluate("(car) => { window.car = Uint8Array.from(car); }", car)
    await second.evaluate(
        "window.importing = SubtleCrypto.prototype.importKey; SubtleCrypto.prototype.importKey = function (...given) {"
        " if (given[2] === 'Ed25519') throw new DOMException('Unrecognized name.', 'NotSupportedError');"
        " return importing.apply(this, given); }; null"
    )
    refused = await outcome(second, f"return client.recover({{name: '{name}', key: {PASSWORD}}})")
    assert (refused["name"], refused["code"]) == ("RecoveryRefused", "unsupported"), refused
    assert refused["isServiceError"] is True and await second.evaluate("client.vault.stored()") == []
    from_file = await outcome(second, f"return client.recover({{car, key: {PASSWORD}}})")
    assert from_file.get("value", {}).get("sequence", 0) is None, from_file
    await second.evaluate("SubtleCrypto.prototype.importKey = importing; null")
    again = await outcome(second, f"return client.recover({{car, key: {PASSWORD}}})")
    assert again["name"] == "ClientStateError" and "lock it first" in again["message"]
    forget = "client.vault.lock().then(() => client.vault.stored()).then(([{did}]) => client.vault.forget(did))"
    await second.evaluate(forget)


async def one_of_two_gateways_lies(page, service):
    async def elsewhere(route):
        await route.fulfill(response=await route.fetch(url=service + route.request.url.partition("/elsewhere")[2]))

    await page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(body="another vault"))
    await page.route("**/elsewhere/**", elsewhere)


async def they_both_change(first, second):
    for page in (first, second):
        await page.evaluate(DELEGATE)
    published = await outcome(second, PUBLISH)
    assert published.get("value", {}).get("sequence") == 2, published
    conflict = await outcome(first, PUBLISH)
    assert (conflict["name"], "both versions are kept" in conflict["message"]) == ("SnapshotConflict", True), conflict
    differences = (await outcome(first, f"return (await client.snapshots()).compare({PASSWORD})"))["value"]
    (delegations,) = [it for it in differences if it["table"] == "delegations"]
    assert len(delegations["onlyHere"]) == len(delegations["onlyThere"]) == 1
    ours = await first.evaluate(CONTENTS)
    theirs = await second.evaluate(CONTENTS)
    taken = await outcome(first, f"return (await client.snapshots()).choose('there', {PASSWORD})")
    assert taken["value"]["status"] == "pinned" and taken["value"]["sequence"] == 3, taken
    assert await first.evaluate(CONTENTS) == theirs
    kept = await first.evaluate(
        "new Promise((done) => { indexedDB.open('holdfast-vault').onsuccess = ({target: {result: db}}) => {"
        " db.transaction('vaults').objectStore('vaults').count().onsuccess = ({target}) => done(target.result); }; })"
    )
    assert kept >= 2, "this device's version stays as a revision"
    assert ours != theirs
    behind = await outcome(second, f"await {DELEGATE}; {PUBLISH}")
    assert behind["name"] == "SnapshotConflict"
    forced = await outcome(second, f"return (await client.snapshots()).choose('here', {PASSWORD})")
    assert forced["value"]["sequence"] == 4, forced


async def a_second_vault_is_published_under_its_own_name(page):
    theirs = await page.evaluate("client.vault.status().then(({did}) => did)")
    await page.evaluate("client.vault.lock()")
    await outcome(page, f"""
      const passkey = await hf.createPasskey({{userName: "grace"}});
      await client.vault.generate({{credential: passkey.credential}}, {PASSWORD});
      return client.register({{handle: "{new_name()}"}});
    """)  # fmt: skip
    published = await outcome(page, PUBLISH)
    assert published.get("value", {}).get("sequence") == 1, published
    assert published["value"]["did"] != theirs
