"""After pairing two browsers, or a browser and a Python client, each of the person's keys opens every snapshot."""

import pytest
from tests.support.page_visits import new_name
from tests.support.passkeys import CLIENT, MAKE, PATIENCE_MS, Authenticator, new_page, outcome, visit
from tests.support.synced_passkeys import exported, note_secret, synced
from tests.support.vaults import GIVEN

from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.sync.protocol import AsyncPairingServer, receive
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import HostKey, KnownKey, PasswordKey

BY_HAND = {"snapshots": {"automatic": False}}
LAPTOP_WORDS, PHONE_WORDS = "correct horse battery", "another horse entirely"
PUBLISH = "return (await client.snapshots()).publish()"
SAVE = "await client.vault.exec('resource:services action:create', {id: 'phone', type: 'note', endpoint: 'https://x.example'})"
GIVE = """
async () => {
  const {PairingServer} = await import('/client/pairing/pairing.js');
  // Both people see the same digits.
  window.giving = new PairingServer(client.vault, async (digits) => digits, async () => (await client.snapshots()).publishedRecord());
}
"""
TAKE = """
async (password) => {
  const {receive} = await import('/client/pairing/pairing.js');
  const continueFrom = async (record) => (await client.snapshots()).continueFrom(record);
  return receive(client.vault, ask, {kind: 'password', password}, async () => true, continueFrom);
}
"""


def words(password):
    return f"{{kind: 'password', password: '{password}'}}"


@pytest.fixture
def server(undeclared):
    return undeclared


async def laptop(browser, server):
    """A page with a registered and published vault that either a passkey or a password opens."""
    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(PATIENCE_MS)
    await note_secret(page)
    await visit(page, server)
    page.authenticator = await Authenticator.of(page)
    await page.evaluate(CLIENT, BY_HAND)
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate(f"client.vault.addKey({words(LAPTOP_WORDS)})")
    await page.evaluate("(handle) => client.register({handle})", new_name())
    await outcome(page, PUBLISH)
    return page


async def phone(browser, server, giver):
    """Return a page in another profile that has been paired with the laptop's page."""
    page = await new_page(await browser.new_context(), server)
    await page.evaluate(CLIENT, BY_HAND)
    await giver.evaluate(GIVE)
    await page.expose_function("ask", lambda message: giver.evaluate("(it) => giving.handle(it)", message))
    assert (await page.evaluate(TAKE, PHONE_WORDS))["success"] is True
    return page


@pytest.mark.soak
async def test_the_laptops_passkey_opens_what_the_phone_published(browser, server):
    first = await laptop(browser, server)
    second = await phone(browser, server, first)
    published = await outcome(second, f"{SAVE}; {PUBLISH}")
    assert published.get("value", {}).get("sequence") == 2, ("the phone continues the laptop's snapshot", published)
    page = await (await browser.new_context()).new_page()
    await synced(page, *await exported(first, first.authenticator))
    await visit(page, server)
    await page.evaluate(CLIENT, BY_HAND)
    found = await outcome(page, """
      const steps = [];
      const {rootCid, newer} = await client.recover({onProgress: (step) => steps.includes(step) || steps.push(step)});
      const {result} = await client.vault.exec('resource:services action:list');
      return {rootCid, newer, steps, rows: result.map(({id}) => id)};
    """)  # fmt: skip
    steps = ["passkey chosen", "record verified", "fetching", "snapshot verified", "vault opened"]
    root = published["value"]["acknowledgedRoot"]
    assert found.get("value", found) == {"rootCid": root, "newer": None, "steps": steps, "rows": ["phone"]}


async def test_keys_cross_between_python_and_a_browser(browser, server, tmp_path):
    page = await new_page(browser, server)
    await page.evaluate(CLIENT, BY_HAND)
    passkey = KnownKey(HostKey("prf", "laptop", secret=b"l" * 32))
    with VaultStore(directory=tmp_path / "old") as older, VaultStore(directory=tmp_path / "new") as newer:
        async with AsyncVault(older) as old, AsyncVault(newer) as new, AsyncVault() as other:
            await old.generate(GIVEN, passkey)
            giving = AsyncPairingServer(old, lambda digits: digits)
            await page.expose_function("ask", giving.handle)
            taken = await outcome(page, f"return ({TAKE})('{PHONE_WORDS}')")
            assert taken["value"]["did"] == (await old.status()).did, taken
            await page.evaluate(GIVE)

            class Channel:
                async def ask(self, message):
                    return await page.evaluate("(it) => giving.handle(it)", message)

            await receive(new, Channel(), PasswordKey(LAPTOP_WORDS), lambda _: None, lambda _: True)
            stored = newer.load()
            for key in (passkey, PasswordKey(PHONE_WORDS), PasswordKey(LAPTOP_WORDS)):
                assert (await other.unlock(key, stored.sealed)).success
                await other.lock()
            assert next(it["id"] for it in (await new.keys()).wraps) == "laptop"
