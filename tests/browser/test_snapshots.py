"""In a real Chromium with a running service, snapshots are uploaded automatically and can restore the vault."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, new_page, outcome, visit
from tests.support.serving import PATIENCE_S, Server
from tests.support.synced_passkeys import exported, note_secret, synced

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, BrowserContext, Page, Route

QUICK = {"snapshots": {"debounceMs": 50}}
BY_HAND = {"snapshots": {"automatic": False}}
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


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    return serve()


async def first_device(browser: Browser, server: Server, options: dict[str, Any], handle: str = "ada") -> Page:
    """Return a page with a registered vault that a password also opens."""
    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(PATIENCE_MS)
    await note_secret(page)
    await visit(page, server)
    page.authenticator = await Authenticator.of(page)  # type: ignore[attr-defined]
    await page.evaluate(CLIENT, options)
    await page.evaluate(WATCH)
    await page.evaluate(MAKE, {"name": handle, "options": {}})
    await page.evaluate(f"client.vault.addKey({PASSWORD})")
    await page.evaluate("(handle) => client.register({handle})", handle)
    return page


async def second_device(browser: Browser, server: Server, options: dict[str, Any]) -> Page:
    """Return a page in a new profile, with a client that has no vault."""
    page = await new_page(await browser.new_context(), server)
    await page.evaluate(CLIENT, options)
    await page.evaluate(WATCH)
    return page


async def became(page: Page, condition: str) -> None:
    """Poll an expression until it is true, which is the only way of waiting that the page's CSP allows."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await page.evaluate(condition):
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise AssertionError(f"{condition} stayed false: {await page.evaluate('told')}") from error


async def pinned(page: Page) -> dict[str, Any]:
    """Wait until the newest revision is pinned, and return the snapshot state."""
    await became(page, KEPT)
    state: dict[str, Any] = await page.evaluate("told.at(-1)")
    return state


async def test_changes_go_up_and_a_synced_passkey_alone_brings_them_back(browser: Browser, server: Server) -> None:
    first = await first_device(browser, server, QUICK)
    await pinned(first)
    await first.evaluate(DELEGATE)
    state = await pinned(first)
    told = await first.evaluate("told")
    assert [it["status"] for it in told][-3:] == ["pinning", "pinning", "pinned"], [it["reason"] for it in told]
    await became(first, "client.bootStatus.helia === true")
    contents = await first.evaluate(CONTENTS)
    assert contents["delegations"] and contents["accounts"]
    credential, secret = await exported(first, first.authenticator)  # type: ignore[attr-defined]

    second = await (await browser.new_context()).new_page()
    await synced(second, credential, secret)
    await visit(second, server)
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


async def test_a_failure_is_told_with_its_reason_and_tried_again(browser: Browser, server: Server) -> None:
    page = await first_device(browser, server, QUICK)
    await pinned(page)
    full = {"error": {"reason": "INSUFFICIENT_FUNDS", "details": "16 of 16 MiB are used"}}
    answers = [json.dumps(full)]

    async def refuse(route: Route) -> None:
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


async def test_two_devices_that_both_changed_are_told_apart(browser: Browser, server: Server) -> None:
    first = await first_device(browser, server, BY_HAND)
    published = await outcome(first, PUBLISH)
    assert published.get("value", {}).get("status") == "pinned", published
    name = await first.evaluate("client.vault.publishingKey().then(({name}) => name)")
    second = await second_device(browser, server, BY_HAND)
    recovered = await outcome(second, f"return client.recover({{name: '{name}', key: {PASSWORD}}})")
    assert recovered["value"]["sequence"] == 1, recovered
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


async def test_nothing_is_uploaded_unless_asked_for(browser: Browser, server: Server) -> None:
    page = await first_device(browser, server, {"snapshots": {"automatic": False, "debounceMs": 10}})
    await page.evaluate("client.snapshots()")
    await page.evaluate("client.register({handle: 'grace'})")
    await page.evaluate(DELEGATE)
    await asyncio.sleep(1)  # a hundred times the delay after which an automatic upload starts
    assert await page.evaluate("told") == []
    assert (await outcome(page, PUBLISH))["value"]["status"] == "pinned"


async def test_a_second_vault_in_the_same_client_is_published_under_its_own_name(
    browser: Browser, server: Server
) -> None:
    page = await first_device(browser, server, BY_HAND)
    other = await first_device(browser, server, BY_HAND, "grace")
    theirs = (await outcome(other, PUBLISH))["value"]
    name = await other.evaluate("client.vault.publishingKey().then(({name}) => name)")
    assert (await outcome(page, PUBLISH))["value"]["did"] != theirs["did"]
    await page.evaluate("client.vault.lock()")
    await page.evaluate(f"client.recover({{name: '{name}', key: {PASSWORD}}})")
    await page.evaluate(DELEGATE)
    published = await outcome(page, PUBLISH)
    assert published.get("value", {}).get("sequence") == theirs["sequence"] + 1, published
    assert published["value"]["did"] == theirs["did"]


async def test_refusals_of_a_recovery_are_readable_and_store_nothing(browser: Browser, server: Server) -> None:
    first = await first_device(browser, server, BY_HAND)
    await outcome(first, PUBLISH)
    name = await first.evaluate("client.vault.publishingKey().then(({name}) => name)")
    car = await first.evaluate("client.snapshots().then(async (it) => Array.from(await it.file()))")
    page = await second_device(browser, server, BY_HAND)

    async def refused(options: str) -> tuple[str, str]:
        ended = await outcome(page, f"return client.recover({options})")
        assert "value" not in ended and await page.evaluate("client.vault.stored()") == [], ended
        assert ended["isServiceError"] is True, ended
        return ended["name"], ended["code"]

    wrong = "key: {kind: 'password', password: 'another horse'}"
    await page.evaluate("(car) => { window.car = Uint8Array.from(car); }", car)
    assert await refused(f"{{name: '{name}', {wrong}}}") == ("RecoveryRefused", "wrong_key")
    assert await refused(f"{{car, {wrong}}}") == ("RecoveryRefused", "wrong_key")
    assert await refused(f"{{car: car.slice(0, -5), key: {PASSWORD}}}") == ("RecoveryRefused", "incomplete")
    assert await refused(f"{{car: car.with(car.length - 5, 7), key: {PASSWORD}}}") == ("RecoveryRefused", "damaged")
    nameless = "k51qzi5uqu5djmw2yvf8kk5cdjc1ddc00o4d5sjwi6f79xzcay9j3gkddw5uu4"
    assert await refused(f"{{name: '{nameless}', key: {PASSWORD}}}") == ("RecoveryRefused", "no_snapshot")
    # After an incomplete upload, the IPNS record exists, but a block is missing.
    await page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(status=404, body="no such block"))
    assert await refused(f"{{name: '{name}', key: {PASSWORD}}}") == ("RecoveryRefused", "incomplete")
    await page.unroute("**/ipfs/bafkrei*")
    # Every gateway lies.
    await page.route("**/ipfs/bafkrei*", lambda route: route.fulfill(body="another vault"))
    assert await refused(f"{{name: '{name}', key: {PASSWORD}}}") == ("RecoveryRefused", "damaged")
    # One of two gateways returns false data, so the data from the other gateway is used.
    good = f"http://localhost:{server.port}"
    await page.route("**/elsewhere/**", lambda route: _from(good, route))
    options = json.dumps({"snapshots": {"automatic": False, "gatewayUrl": f"{good}/elsewhere"}})
    found = await outcome(page, f"""
      const other = new hf.Client({{...{options}, dbName: "other"}});
      await other.boot();
      const found = await other.recover({{name: '{name}', key: {PASSWORD}}});
      await other.close();
      return found;
    """)  # fmt: skip
    assert found.get("value", {}).get("sequence") == 1, found
    await page.unroute("**/ipfs/bafkrei*")
    # A browser that cannot verify Ed25519 signatures accepts no published snapshot, but can read a snapshot file.
    await page.evaluate(
        "window.importing = SubtleCrypto.prototype.importKey; SubtleCrypto.prototype.importKey = function (...given) {"
        " if (given[2] === 'Ed25519') throw new DOMException('Unrecognized name.', 'NotSupportedError');"
        " return importing.apply(this, given); }; null"
    )
    assert await refused(f"{{name: '{name}', key: {PASSWORD}}}") == ("RecoveryRefused", "unsupported")
    from_file = await outcome(page, f"return client.recover({{car, key: {PASSWORD}}})")
    await page.evaluate("SubtleCrypto.prototype.importKey = importing; null")
    assert from_file.get("value", {}).get("sequence", 0) is None, from_file
    published = await outcome(page, PUBLISH)
    assert published.get("value", {}).get("sequence") == 2, (
        published,
        "a vault from a file goes up on top of its record",
    )
    again = await outcome(page, f"return client.recover({{car, key: {PASSWORD}}})")
    assert again["name"] == "ClientStateError" and "lock it first" in again["message"]


async def test_an_older_snapshot_is_taken_only_if_the_person_says_so(browser: Browser, server: Server) -> None:
    page = await first_device(browser, server, BY_HAND)
    name = await page.evaluate("client.vault.publishingKey().then(({name}) => name)")
    await outcome(page, PUBLISH)
    older = await page.context.request.get(f"http://localhost:{server.port}/ipns/{name}?format=ipns-record")
    record = await older.body()
    await page.evaluate(DELEGATE)
    await outcome(page, PUBLISH)
    await page.route("**/ipns/**", lambda route: route.fulfill(body=record))
    await page.evaluate(DELEGATE)
    assert (await outcome(page, PUBLISH))["name"] == "SnapshotRolledBack", "nothing is published over it"
    # The browser has deleted its vault, but remembers the last sequence number that it saw.
    await page.evaluate(
        "client.vault.lock().then(() => client.vault.stored()).then(([{did}]) => client.vault.forget(did))"
    )
    asked = f"{{name: '{name}', key: {PASSWORD}"
    refused = await outcome(page, f"return client.recover({asked}}})")
    assert refused["name"] == "SnapshotRolledBack" and "rolled back" in refused["message"], refused
    taken = await outcome(page, f"""
      const reasons = [];
      const {{sequence}} = await client.recover({asked}, accept: (reason) => reasons.push(reason)}});
      return {{sequence, reasons}};
    """)  # fmt: skip
    assert taken["value"] == {"sequence": 1, "reasons": ["rolled_back"]}, taken


async def _from(service: str, route: Route) -> None:
    await route.fulfill(response=await route.fetch(url=service + route.request.url.partition("/elsewhere")[2]))


async def test_a_passkey_without_prf_says_so_and_a_password_helps(browser: Browser, server: Server) -> None:
    first = await first_device(browser, server, BY_HAND)
    await outcome(first, PUBLISH)
    (credential,) = await first.authenticator.credentials()  # type: ignore[attr-defined]
    context: BrowserContext = await browser.new_context()
    page = await new_page(context, server)
    authenticator = await Authenticator.of(page, hasPrf=False)
    await authenticator.send("addCredential", credential=credential)
    await page.evaluate(CLIENT, BY_HAND)
    refused = await outcome(page, "return client.recover()")
    assert (refused["name"], refused["code"]) == ("RecoveryRefused", "no_prf"), refused
    found = await outcome(page, f"return client.recover({{passkey: await hf.usePasskey(), key: {PASSWORD}}})")
    assert found["value"]["sequence"] == 1, found
