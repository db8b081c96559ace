"""What the client returns has the interface's fields, and passkeys of a virtual authenticator open its vault.

Errors, defaults, and how ceremonies fail are tested in browser/test/{interface,passkeys}.test.js.
"""

import asyncio
import json
import re
import secrets
from pathlib import Path

import pytest
from tests.support.passkeys import CLIENT, MAKE, outcome

ROOT = Path(__file__).resolve().parents[2]
TYPES = json.loads((ROOT / "interface" / "client_types.json").read_text())["types"]
DECLARED = (ROOT / "browser" / "src" / "generated" / "types.js").read_text()
PASSWORD = "correct horse battery"
# The generator of P-256
KEY = f"{{kind: 'password', password: '{PASSWORD}'}}"


def conforms(value, name, more=frozenset()):
    """Assert that required fields exist, that no field is undocumented unless it is in `more`, and that types match."""
    fields = TYPES[name]["fields"]
    assert {field for field, row in fields.items() if row["required"]} <= set(value), (name, sorted(value))
    assert set(value) <= set(fields) | more, (name, sorted(set(value) - set(fields)))
    for field, row in fields.items():
        if field in value:
            _is_a(value[field], row["type"], f"{name}.{field}")


def _is_a(value, kind, where):
    if kind.endswith("[]") and kind[:-2] in TYPES:
        for item in value:
            conforms(item, kind[:-2])
    elif kind in TYPES and TYPES[kind]["kind"] == "record":
        conforms(value, kind)
    elif kind == "number[]":
        assert isinstance(value, list) and all(isinstance(it, int) for it in value), where
    elif kind in PLAIN:
        assert isinstance(value, PLAIN[kind]) and (kind != "number" or not isinstance(value, bool)), where


PLAIN = {"string": str, "boolean": bool, "number": int | float, "object": dict, "string | null": str | None}


def test_the_declared_types_are_the_interfaces():
    for name, entry in TYPES.items():
        if entry["kind"] != "record":
            assert re.search(rf"@typedef \{{.*\}} {name} ", DECLARED), name
            continue
        block = re.search(rf"@typedef \{{object\}} {name}\n((?: \* @property .*\n)*)", DECLARED)
        assert block, name
        declared = re.findall(r"@property \{.*\} (\[?)(\w+)(?:=(.*))?\]?$", block[1], re.MULTILINE)
        assert {field: not bracket for bracket, field, _ in declared} == {
            field: row["required"] for field, row in entry["fields"].items()
        }, name
        defaults = {field: json.loads(given.removesuffix("]")) for _, field, given in declared if given}
        assert defaults == {field: row["default"] for field, row in entry["fields"].items() if "default" in row}, name


@pytest.mark.usefixtures("authenticator")
async def test_what_comes_back_has_the_documented_fields(page):
    conforms(await page.evaluate(CLIENT, {}), "BootStatus")
    async with asyncio.timeout(60):  # the page's policy forbids waiting for an expression
        while await page.evaluate("events.length") < 6:
            await asyncio.sleep(0.05)
    for event in await page.evaluate("events"):
        conforms(event, "BootEvent")
    conforms(await page.evaluate("hf.getDeviceCapabilities()"), "DeviceCapabilities")
    made = (await page.evaluate(MAKE, {"name": "ada", "options": {}}))["made"]
    conforms(made, "GenerateOutputWithShares", {"parsed_credential"})
    conforms(await page.evaluate("(made) => hf.generateResult(made)", made), "GenerateResult")
    conforms(await page.evaluate("passkey"), "CreatePasskeyResult")
    conforms((await page.evaluate("client.vault.stored()"))[0], "VaultManifest")
    await an_alias_is_registered_in_its_canonical_form(page)
    extra = {"identifier", "issuer", "cid", "container", "recovery", "idle_seconds", "revision", "unsaved"}
    for code, name in CALLS:
        seen = await outcome(page, f"return {code}")
        assert "value" in seen, (code, seen)
        conforms(seen["value"], name, extra)


SIGN_USER_OP = """(async () => {
  const {accounts} = await client.vault.query();
  const {user_op, entry_point} = await client.vault.createRegistration({sender: accounts[0].address, alias: ""});
  return client.vault.signUserOp(user_op, entry_point, 84532);
})()"""
CALLS = (
    ("client.vault.status()", "StatusOutput"),
    ("client.vault.query()", "QueryOutput"),
    ("client.vault.exec('resource:accounts action:list')", "ExecOutput"),
    ("client.vault.sign(new Uint8Array(32))", "SignResult"),
    ("client.vault.signMessage('hello')", "SignResult"),
    ("client.vault.deriveAddress()", "DeriveAddressResult"),
    ("client.vault.refreshShares()", "EncryptedShares"),
    ("client.vault.parse(passkey.credential)", "ParseWebAuthnResult"),
    ("client.vault.delegate({to: (await client.vault.publishingKey()).did, command: '/accounts/pay'})", "MintUcanResult"),
    ("client.vault.invoke({command: '/accounts/list', args: {}})", "MintUcanResult"),
    (
        "client.vault.createRegistration({sender: (await client.vault.query()).accounts[0].address, alias: 'ada'})",
        "RegistrationResult",
    ),
    (SIGN_USER_OP, "SignUserOpResult"),
    (f"client.vault.export({{password: '{PASSWORD}'}})", "VaultExportOutput"),
    ("client.vault.syncRespond('00'.repeat(32), {code: '000000'})", "SyncRespondResult"),
    ("client.vault.syncComplete({sessionId: '00'.repeat(32), code: '000000', encryptedVault: ''}, KEY)".replace("KEY", KEY), "SyncCompleteResult"),
    (f"client.vault.addKey({KEY}).then(() => client.vault.lock())", "LockOutput"),
    ("client.vault.load()", "LoadOutput"),
    (f"client.vault.unlock({KEY})", "UnlockOutput"),
    ("client.vault.lock().then(() => client.vault.syncInit())", "SyncInitResult"),
    ("hf.registerPaymentHandler()", "PaymentHandlerRegistration"),
)  # fmt: skip


async def an_alias_is_registered_in_its_canonical_form(page):
    asked = await outcome(page, """
      const { vault } = client;
      const { accounts: [{ address: sender }] } = await vault.query();
      const hash = async (alias) => (await vault.createRegistration({sender, alias})).alias_hash;
      const given = [await vault.aliasHash("\uff21da "), await vault.aliasHash("ada", (bytes) => "0x" + bytes.length)];
      return {given, ada: await hash("ada"), same: await Promise.all([" Ada ", "\uff21da"].map(hash)), umlauts: [await hash("\u00c4DA"), await hash("\u00e4da")]};
    """)  # fmt: skip
    value = asked.get("value")
    assert value, asked
    assert value["same"] == [value["ada"]] * 2
    assert value["given"] == [value["ada"], "0x3"]
    assert value["umlauts"][0] == value["umlauts"][1] != value["ada"]


async def refused(page, code):
    """Return the WebAuthnError with which the ceremony failed."""
    seen = await outcome(page, code)
    assert seen.get("name") == "WebAuthnError" and seen["isServiceError"], seen
    return seen


async def test_a_passkey_is_added_everywhere_and_removed_again(page, authenticator):
    did, first = await a_vault_of_whose_passkey_no_secret_is_seen(page)
    handle = f"h{secrets.token_hex(5)}"
    assert "value" in await outcome(page, f"return client.register({{handle: '{handle}'}})")
    seen = await refused(page, f"return client.addPasskey({{userName: '{handle}'}})")
    assert seen["reason"] == "excluded", "the same authenticator holds one already"
    await authenticator.remove()
    await authenticator.add(transport="usb")
    asked = f"return client.addPasskey({{userName: '{handle}', deviceName: 'Key', hints: ['security-key']}})"
    added = (await outcome(page, asked))["value"]
    assert added["registered"] is True
    found = await outcome(page, f"return client.lookupDid({{credentialId: '{added['credentialId']}'}})")
    assert (found["value"]["did"], found["value"]["identifier"]) == (did, handle)
    listed = (await outcome(page, "return (await client.vault.query()).credentials"))["value"]
    assert [it["device_name"] for it in listed] == ["", "Key"]
    await page.evaluate("client.vault.lock()")
    opened = await outcome(page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()))")
    assert opened["value"] == {"success": True, "did": did}
    await only_this_passkey_is_left(page, first, added["credentialId"])
    assert len(await authenticator.credentials()) == 1
    await authenticator.remove()
    await authenticator.add(hasPrf=False)
    assert (await refused(page, "return client.addPasskey()"))["reason"] == "no_prf"
    assert await authenticator.credentials() == [], "a passkey that opens nothing is not left behind"
    await without_prf_a_password_opens_the_vault(page, did, added["credentialId"])


async def a_vault_of_whose_passkey_no_secret_is_seen(page):
    """Make the only vault; return its DID and the passkey's ID. What the ceremonies return contains no secret."""
    seen = await outcome(page, """
      const results = [];
      const read = PublicKeyCredential.prototype.getClientExtensionResults;
      PublicKeyCredential.prototype.getClientExtensionResults = function () {
        const found = read.call(this);
        if (found.prf?.results?.first) results.push([...new Uint8Array(found.prf.results.first)]);
        return found;
      };
      for (const {did} of await client.vault.stored()) await client.vault.forget(did);
      const made = await hf.createPasskey();
      const used = await hf.usePasskey();
      const key = await hf.passkeyKey(used);
      const {did} = await client.vault.generate({credential: made.credential}, key);
      return {texts: [JSON.stringify(made), JSON.stringify(used), atob(made.credential), atob(used.assertion)], did,
              results, left: key.secret.byteLength, again: (await hf.passkeyKey(made)).kind, id: made.credentialId};
    """.replace("const results", f"await ({CLIENT})({{}}); const results"))  # fmt: skip
    value = seen.get("value")
    assert value, seen
    assert value["left"] == 0, "the secret's buffer has moved into the worker"
    assert len(value["results"]) == 2 and value["results"][0] == value["results"][1]
    for text in value["texts"]:
        assert "prf" not in text and "results" not in text
    return value["did"], value["id"]


async def only_this_passkey_is_left(page, first, second):
    """Remove the first passkey; the second, which is the last, cannot be removed."""
    gone = await outcome(page, f"return client.removePasskey('{first}')")
    # The service's DID is not that of its address, and this page does not name it.
    assert gone["value"] == {"isNotified": True, "takenBack": False}
    left = await outcome(
        page, "return [(await client.vault.keys()).wraps, (await client.vault.query()).credentials.length]"
    )
    assert left["value"] == [[{"kind": "prf", "id": second}], 1]
    for remove in (f"client.removePasskey('{second}')", f"client.vault.removeKey('prf', '{second}')"):
        last = await outcome(page, f"return {remove}")
        assert (last["name"], last["code"]) == ("PluginCallError", "last_wrap")


async def without_prf_a_password_opens_the_vault(page, did, passkey):
    seen = await refused(page, "return hf.passkeyKey(await hf.createPasskey())")
    assert seen["reason"] == "no_prf" and "password" in seen["message"]
    made = await outcome(page, f"""
      await client.vault.addKey({{kind: "password", password: "correct horse"}});
      await client.vault.removeKey("prf", "{passkey}");
      await client.vault.lock();
      const wrong = await client.vault.unlock({{kind: "password", password: "wrong horse"}});
      const right = await client.vault.unlock({{kind: "password", password: "correct horse"}});
      return {{wrong, right, keys: await client.vault.keys()}};
    """)  # fmt: skip
    assert made["value"]["wrong"] == {"success": False, "error": "wrong_key"}, made
    assert made["value"]["right"] == {"success": True, "did": did}
    assert [wrap["kind"] for wrap in made["value"]["keys"]["wraps"]] == ["password"]
