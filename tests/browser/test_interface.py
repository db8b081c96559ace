"""The client has the error classes, field names, optional fields and defaults from the interface's tables."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.passkeys import CLIENT, MAKE, outcome

if TYPE_CHECKING:
    from playwright.async_api import Page

ROOT = Path(__file__).resolve().parents[2]
TYPES = json.loads((ROOT / "interface" / "client_types.json").read_text())["types"]
ERRORS = json.loads((ROOT / "interface" / "client_errors.json").read_text())
DECLARED = (ROOT / "browser" / "src" / "generated" / "types.js").read_text()
PASSWORD = "correct horse battery"
# The generator of P-256
X = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
Y = "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
KEY = f"{{kind: 'password', password: '{PASSWORD}'}}"


def conforms(value: Any, name: str, more: set[str] = frozenset()) -> None:
    """Assert that required fields exist, that no field is undocumented unless it is in `more`, and that types match."""
    fields = TYPES[name]["fields"]
    assert {field for field, row in fields.items() if row["required"]} <= set(value), (name, sorted(value))
    assert set(value) <= set(fields) | more, (name, sorted(set(value) - set(fields)))
    for field, row in fields.items():
        if field in value:
            _is_a(value[field], row["type"], f"{name}.{field}")


def _is_a(value: Any, kind: str, where: str) -> None:
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


def test_the_declared_types_are_the_interfaces() -> None:
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


async def test_error_classes_have_the_documented_names_and_messages(page: Page) -> None:
    for name, row in ERRORS["classes"].items():
        arguments = ["'sign'", "'why'"] if "functionName" in row["message"] else ["'why'"]
        seen = await outcome(page, f"throw new hf.{name}({', '.join(arguments)})")
        assert seen["isServiceError"] is True and seen["name"] == row["name"]
        assert seen["message"] == row["message"].format(message="why", functionName="sign")
        for property_ in row.get("properties", []):
            assert seen[property_] == "sign"
    base = await outcome(page, "throw new hf.ServiceError('why', {cause: new TypeError('x')})")
    assert (base["name"], base["message"], base["cause"]) == ("ServiceError", "why", "TypeError")


@pytest.mark.usefixtures("authenticator")
async def test_what_comes_back_has_the_documented_fields(page: Page) -> None:
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


async def an_alias_is_registered_in_its_canonical_form(page: Page) -> None:
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


async def test_no_address_is_returned_for_what_can_be_no_key(page: Page) -> None:
    asked = await outcome(page, f"""
      const fetched = [];
      window.fetch = async (url) => (fetched.push(String(url)), new Response('{{"address":"0x"}}'));
      const names = [];
      for (const [pubKeyX, pubKeyY] of [["0x1", "0x2"], ["{Y}", "{X}"], ["0", "0"], ["{X}", "0x1"], ["x", "{Y}"]]) {{
        await hf.getSmartAccountAddress({{pubKeyX, pubKeyY}}).then(() => names.push(""), (it) => names.push(it.name));
      }}
      return {{names, fetched: fetched.length}};
    """)  # fmt: skip
    assert asked["value"] == {"names": ["RangeError"] * 4 + [""], "fetched": 1}, "the service refuses what is not hex"


@pytest.mark.usefixtures("authenticator")
async def test_defaults_are_the_documented_ones(page: Page) -> None:
    asked = await outcome(page, """
      const seen = {};
      const create = navigator.credentials.create.bind(navigator.credentials);
      navigator.credentials.create = (options) => (seen.passkey = options.publicKey, create(options));
      await hf.createPasskey();
      const fetched = [];
      window.fetch = async (url, init = {}) => (fetched.push([init.method ?? "GET", String(url)]), new Response('{"address":"0x"}'));
      await hf.getSmartAccountAddress({pubKeyX: "GX", pubKeyY: "GY"});
      await hf.getSmartAccountAddress({pubKeyX: "GX", pubKeyY: "GY", salt: 7n, vaultUrl: "https://other.example"});
      navigator.serviceWorker.register = async (url, options) => (seen.worker = [String(url), options], {scope: location.origin + "/pay/", paymentManager: {}});
      const registered = await hf.registerPaymentHandler();
      const {rp, timeout, excludeCredentials, authenticatorSelection} = seen.passkey;
      return {rp, timeout, excludeCredentials, authenticatorSelection, fetched, worker: seen.worker, registered, dbName: new hf.VaultStore().dbName};
    """.replace("GX", X).replace("GY", Y))  # fmt: skip
    value = asked.get("value")
    assert value, asked
    options = TYPES["CreatePasskeyOptions"]["fields"]
    assert value["rp"] == {"id": "localhost", "name": options["rpName"]["default"]}
    assert value["timeout"] == options["timeout"]["default"]
    assert value["excludeCredentials"] == []
    assert value["authenticatorSelection"]["userVerification"] == "required"
    assert value["authenticatorSelection"]["residentKey"] == "required"
    assert value["dbName"] == TYPES["VaultStoreConfig"]["fields"]["dbName"]["default"]
    first, other, method = value["fetched"]
    assert first[1].endswith(f"/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}&salt=0")
    assert other[1] == f"https://other.example/api/accounts/predict?pubKeyX={X}&pubKeyY={Y}&salt=7"
    assert method[0] == "HEAD" and method[1].endswith("/pay")
    handler = TYPES["PaymentHandlerOptions"]["fields"]
    url, registration = value["worker"]
    assert url.endswith(handler["swUrl"]["default"])
    assert registration == {"scope": handler["scope"]["default"], "updateViaCache": "none"}
    assert value["registered"] == {"success": True, "scope": handler["scope"]["default"]}


async def test_the_payment_handler_registers_in_the_browser_itself(page: Page) -> None:
    assert await page.evaluate("hf.registerPaymentHandler()") == {"success": True, "scope": "/pay/"}
    scopes = await page.evaluate(
        "navigator.serviceWorker.getRegistrations().then((all) => all.map(({scope}) => scope))"
    )
    assert [scope.rpartition("/pay/")[1] for scope in scopes] == ["/pay/"]
    refused = await page.evaluate("hf.registerPaymentHandler({methodUrl: '/nowhere'})")
    assert refused["success"] is False and "404" in refused["error"]
    refused = await page.evaluate("hf.registerPaymentHandler({swUrl: '/pay/other.js'})")
    assert refused["success"] is False and refused["scope"] == "/pay/"


async def test_every_endpoint_answers_and_refusals_have_their_code(page: Page) -> None:
    await page.evaluate("window.client = new hf.Client()")
    assert (await outcome(page, "return client.contracts()"))["value"]["chainId"] == 84532
    assert (await outcome(page, "return client.checkSession({identifier: 'nobody-has-this'})"))["value"] == {
        "available": True,
        "reason": None,
    }
    assert (await outcome(page, "return client.lookupDid({credentialId: 'AAAA'})"))["value"] == {"found": False}
    assert (await outcome(page, "return (await client.enclaveWasm()).byteLength"))["value"] > 100_000
    seen = await outcome(
        page, "return client.createSession({identifier: 'postmaster', channel: 'handle', did: 'did:new:0x11'})"
    )
    assert (seen["name"], seen["status"]) == ("NetworkError", 409) and seen["code"] == "identifier_reserved"
    assert seen["message"] == "Network: identifier_reserved (409)"
    seen = await outcome(page, "return client.bundler('eth_chainId')")
    assert (seen["code"], seen["status"]) == ("rpc_method_not_allowed", 403)
    seen = await outcome(page, "return client.indexerStats()")
    assert (seen["code"], seen["status"]) == ("indexer_not_configured", 503)
    seen = await outcome(page, "return new hf.ServiceClient({baseUrl: 'http://localhost:9'}).status()")
    assert seen["name"] == "NetworkError" and seen["message"].startswith("Network: ")
    seen = await outcome(page, "return new hf.ServiceClient({fetch: async () => new Response('<html>')}).status()")
    assert seen["message"] == "Network: the answer is not JSON"
