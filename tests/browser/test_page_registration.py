"""Registration on the start page, in a real Chromium with a virtual authenticator and a running service."""

import asyncio
import contextlib
import sqlite3

import pytest
from tests.support.held_requests import HeldRequests
from tests.support.page_visits import Visit, new_name
from tests.support.serving import PATIENCE_S


def is_free(server, name):
    with server.client() as client:
        found = client.get("/api/sessions/check", params={"identifier": name}).json()
    assert found.get("reason") in (None, "taken")
    return bool(found["available"])


def take(server, name):
    """Take a name, as another person does."""
    with server.client() as client:
        body = {"identifier": name, "channel": "handle", "did": f"did:new:{name}"}
        assert client.post("/api/sessions", json=body).status_code == 200


# Simulates a browser in which the person does not respond: the request waits for `ask`, and is aborted after 4 s.
UNANSWERED = """(() => {
  const create = CredentialsContainer.prototype.create.bind(navigator.credentials);
  let called;
  window.called = new Promise((resolve) => { called = (ask) => { window.ask = ask; resolve(true); }; });
  navigator.credentials.create = (options) => {
    const request = {...options, publicKey: {...options.publicKey, timeout: 4000}};
    return new Promise((ask) => { called(ask); }).then(() => create(request));
  };
  const now = performance.now.bind(performance);
  performance.now = () => now() + (window.later ?? 0);
})()"""
ANSWERED = "delete navigator.credentials.create, delete performance.now"
# The person creates the passkey, but cancels the second prompt, which would return the passkey's PRF secret.
ONE_CANCELLED = """(() => {
  const {create, get} = navigator.credentials;
  const secretless = async (options) => {
    const made = await create.call(navigator.credentials, options);
    made.getClientExtensionResults = () => ({prf: {enabled: true}});
    return made;
  };
  navigator.credentials.create = secretless;
  navigator.credentials.get = async () => {
    navigator.credentials.get = get;
    throw new DOMException("cancelled", "NotAllowedError");
  };
})()"""


@pytest.mark.soak  # tests/service refuses names, test_passkeys.py fails prompts in the gate
async def test_names_that_others_have_and_prompts_that_fail(browser, shared):
    visit, name = await Visit.of(browser, shared, isUserVerified=False), new_name()
    await may_own_a_taken_name(visit)
    await visit.open("/")
    await visit.choose("handle", name)
    for _ in range(3):
        await visit.press("create", alert="No passkey was used. Nothing changed.")
        await visit.press("back", then="choose")
        await visit.submit(handle=name, then="passkey")
    await visit.press("create", alert="No passkey was used.")
    await visit.inspect("passkey-cancelled")
    await does_not_answer(visit)
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.page.evaluate(ONE_CANCELLED)
    await visit.press("create", then="passkey-again", alert="No passkey was used.")
    await visit.inspect("passkey-again")
    take(shared, name)  # meanwhile
    await visit.press("again", then="choose")
    await visit.alerted("Someone registered this just now. Your passkey is kept. Choose another.")
    await visit.submit(handle=new_name(), then="safety")
    assert len(await visit.authenticator.credentials()) == 1, "the passkey that was made is used"


async def may_own_a_taken_name(visit):
    """Choose a name that is taken, perhaps by the same person; without the passkey, the vault is not found."""
    name = new_name()
    take(visit.server, name)
    await visit.press("register")
    await visit.fill("handle", name)
    await visit.told("This name is taken.")
    await visit.inspect("choose-taken")
    await visit.press("yours", then="none")
    await visit.press("stuck", then="stuck")
    await visit.inspect("stuck")
    await visit.press("recover", alert="No passkey was used.")


async def does_not_answer(visit):
    """Leave a prompt unanswered until the browser ends it, while the page's clock says that a minute has passed."""
    await visit.authenticator.remove()
    await visit.authenticator.add(automaticPresenceSimulation=False)
    await visit.page.evaluate(UNANSWERED)
    await visit.press("create", status="Follow your device.")
    assert await visit.page.locator('[data-name="create"]').is_disabled(), "a double click asks once"
    await visit.page.evaluate("window.called")  # now the page has noted the time and asked for a passkey
    await visit.page.evaluate("window.later = 60000; window.ask()")
    await visit.alerted("That took too long. Nothing changed.")
    await visit.page.evaluate(ANSWERED)


@pytest.mark.soak  # browser/test/screens.test.js says why passkeys are impossible in the gate
async def test_a_browser_without_passkeys_and_the_wrong_address(browser, shared):
    visit = Visit(await browser.new_page(), shared)
    await visit.page.goto(f"http://127.0.0.1:{shared.port}/")
    # The default public URL.
    await visit.page.locator(f'[data-name="obstacle"] a[href="http://localhost:{shared.port}/"]').wait_for()
    await visit.page.add_init_script("delete window.PublicKeyCredential")
    for path, screen in (("/", "start"), ("/vault", "none")):
        await visit.open(path, then=screen)
        await visit.told("This browser does not support passkeys.", '[data-name="obstacle"]')
        await visit.inspect(f"{screen}-unsupported")
    await visit.page.add_init_script("IDBFactory.prototype.open = () => ({})")  # the database never opens
    await visit.open("/", then="start")


# Whether a tab holds the lock under which only one tab registers.
REGISTERING = "navigator.locks.query().then(({held}) => held.some(({name}) => name === 'holdfast-registration'))"
NO_CONNECTION = "No connection to the service. We keep your place."


async def test_an_interrupted_registration_goes_on(browser, shared):
    context, name = await browser.new_context(), new_name()
    visit = await Visit.of(context, shared)
    await visit.choose("handle", name, then="passkey")
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


@pytest.mark.soak  # other ways through the screens of the test above
async def test_a_registration_goes_back_changes_tabs_and_wants_another_name(browser, shared):
    context, name = await browser.new_context(), new_name()
    first = await Visit.of(context, shared)
    await first.choose("handle", name, then="passkey")
    await goes_back(first, name)
    visit = await Visit.of(context, shared)
    await takes_over(visit, first)
    await visit.page.route("**/api/sessions", fails)
    await visit.press("create", then="finish-failed")
    await visit.page.unroute("**/api/sessions")
    await wants_another_name(visit)
    assert is_free(shared, name), "the step that came late is not taken"
    await visit.submit(handle=name, then="safety")
    await visit.open("/", then="start")


async def fails(route):
    await route.abort()


async def goes_back(visit, name):
    """Go back with the browser's button to the screens before, and forward again."""
    await visit.page.go_back()
    await visit.screen("choose")
    assert await visit.page.input_value('[name="handle"]') == name
    await visit.page.go_back()
    await visit.screen("resume")  # the start page, which offers to continue
    await visit.press("continue", then="passkey")


async def takes_over(visit, first):
    """Continue in a second tab, which can only do so after the first has been closed."""
    await visit.screen("resume")
    await visit.press("continue", alert="You are registering in another tab.")
    await first.page.close()
    async with asyncio.timeout(PATIENCE_S):
        while await visit.page.evaluate(REGISTERING):  # the browser ends the closed tab in its own time
            await asyncio.sleep(0.05)
    await visit.press("continue", then="passkey")


async def wants_another_name(visit):
    """Try again, and choose another name before the step's response has come."""
    held = await HeldRequests.of(visit.page, "**/api/status")
    await visit.press("again")
    await held.made()
    await visit.press("other", then="choose")
    await held.release()
    await visit.screen("choose")


async def is_not_confirmed_yet(visit, name):
    """See that a registration whose transaction the chain does not show can still expire."""

    async def pending(route):
        answer = await route.fetch()
        await route.fulfill(response=answer, json={**await answer.json(), "txHash": "0x" + "12" * 32})

    await visit.page.route("**/api/dids/lookup*", pending)
    await visit.open("/vault", then="home")
    await visit.told(f"Registered as {name}", '[data-card="identity"]')
    await visit.told("Unless it does, the registration expires after a day.", '[data-card="identity"]')
    await visit.page.unroute("**/api/dids/lookup*")


async def registers_again(visit, name):
    """Register the vault of a person whose registration the service does not have any more."""
    await visit.open("/vault", then="home")
    await visit.told("At this service only.", '[data-card="identity"]')
    await is_not_confirmed_yet(visit, name)
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
