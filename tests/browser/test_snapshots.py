"""In a real Chromium with a running service, snapshots are uploaded automatically and can restore the vault."""

import asyncio
import json

from tests.support.page_visits import new_name
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, outcome, visit
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
