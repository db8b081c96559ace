"""After pairing two browsers, or a browser and a Python client, each of the person's keys opens every snapshot."""

import pytest
from tests.support.passkeys import CLIENT, new_page, outcome
from tests.support.vaults import GIVEN

from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.sync.protocol import AsyncPairingServer, receive
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import HostKey, KnownKey, PasswordKey

BY_HAND = {"snapshots": {"automatic": False}}
LAPTOP_WORDS, PHONE_WORDS = "correct horse battery", "another horse entirely"
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


@pytest.fixture
def server(undeclared):
    return undeclared


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
