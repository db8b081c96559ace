"""What the client returns has the interface's fields; browser/test/interface.test.js has its errors and defaults."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.support.passkeys import CLIENT, MAKE, outcome

ROOT = Path(__file__).resolve().parents[2]
TYPES = json.loads((ROOT / "interface" / "client_types.json").read_text())["types"]
PASSWORD = "correct horse battery"
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
