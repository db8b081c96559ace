"""The client in a real Chromium on the service's own origin: one person's passkeys, vault, handle and delegation."""

import base64

import pytest
from tests.support.page_visits import new_name
from tests.support.passkeys import CLIENT, MAKE, outcome

WORKER_AND_STORE = """
const minted = await client.vault.delegate({to: "did:key:zDnaeUKTWUXc1HDpGfKbEK31nKLN19yX5aunFd7VK1CUMeyJu", command: "/accounts/pay"});
const stored = await new hf.VaultStore().load((await client.vault.query()).did);
const {revision} = await client.vault.call("status");
const listed = await client.vault.exec("resource:delegations action:list");
return [stored.revision === revision, listed.result.length, Array.isArray(minted.signed_dag_cbor)];
"""


@pytest.fixture(scope="module")
def shared(undeclared):
    """The service of this module's page: its owner's token names the service."""
    return undeclared


async def test_a_passkey_a_vault_and_a_handle(page, authenticator):
    status = await page.evaluate(CLIENT, {"snapshots": False})  # a snapshot would also mint a delegation after 2 s
    assert status["enclave"] is True and status["ready"] is False
    key = await page.evaluate("client.vault.publishingKey()")
    assert key["pending"] is True
    handle = new_name()
    made = await page.evaluate(MAKE, {"name": handle, "options": {}})
    assert made["did"].startswith("did:new:0x")
    assert made["fields"] == ["credential", "credentialId"]
    await the_passkeys_user_handle_is(page, authenticator, key["public_key"])
    assert (await outcome(page, WORKER_AND_STORE)).get("value") == [True, 1, True], "a delegation is kept"
    registered = await page.evaluate("(handle) => client.register({handle})", handle)
    assert registered["did"] == made["did"]
    found = await page.evaluate("(credentialId) => client.lookupDid({credentialId})", made["credentialId"])
    assert found["identifier"] == handle
    assert (await outcome(page, "return client.addPasskey()"))["reason"] == "excluded", "this authenticator holds one"
    await authenticator.remove()
    await authenticator.add(transport="usb")
    added = await outcome(page, f"return client.addPasskey({{userName: '{handle}', deviceName: 'Key'}})")
    assert added.get("value", {}).get("registered") is True, added
    locked = await page.evaluate("client.vault.lock()")
    assert locked["success"] is True and isinstance(locked["database"], list)
    opened = await outcome(page, """
      const key = await hf.passkeyKey(await hf.usePasskey());
      return [await client.vault.unlock(key), key.secret.byteLength];
    """)  # fmt: skip
    assert opened["value"] == [{"success": True, "did": made["did"]}, 0], "the secret has moved into the worker"
    await only_this_passkey_is_left(page, made["credentialId"], added["value"]["credentialId"])
    await authenticator.remove()
    await authenticator.add(hasPrf=False)
    assert (await outcome(page, "return client.addPasskey()"))["reason"] == "no_prf"
    assert await authenticator.credentials() == [], "a passkey that opens nothing is not left behind"


async def only_this_passkey_is_left(page, first, second):
    """Remove the first passkey; the second, which is the last, cannot be removed."""
    gone = await outcome(page, f"return client.removePasskey('{first}')")
    assert gone["value"] == {"isNotified": True, "takenBack": True}
    left = await outcome(page, "return [(await client.vault.keys()).wraps, (await client.vault.query()).credentials]")
    keys, (credential,) = left["value"]
    assert keys == [{"kind": "prf", "id": second}] and credential["device_name"] == "Key"
    last = await outcome(page, f"return client.removePasskey('{second}')")
    assert (last["name"], last["code"]) == ("PluginCallError", "last_wrap")


async def the_passkeys_user_handle_is(page, authenticator, publishing_key):
    key = await page.evaluate("client.vault.publishingKey()")
    assert (key["public_key"], key["pending"]) == (publishing_key, False)
    (credential,) = await authenticator.credentials()
    assert base64.b64decode(credential["userHandle"]).hex() == publishing_key
    used = await outcome(page, "return hf.usePasskey()")
    assert base64.urlsafe_b64decode(used["value"]["userHandle"] + "=").hex() == publishing_key
