"""The enclave in a module worker of a real browser: its functions, and vectors of several kinds.

`tests/enclave/test_js_host.py` runs all vectors in Node, which has the same JavaScript engine.
"""

import base64
import json
from pathlib import Path

import pytest
from tests.support.pages import Pages, serving

from holdfast.enclave import Enclave, bundled, bundled_sha256

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("webauthn/valid", "sync/exchange", "ucan/verify_valid", "enclave/life_valid")
VECTORS = {f"vectors/{name}.json": json.loads((ROOT / "vectors" / f"{name}.json").read_text()) for name in NAMES}
TYPES = {".js": "text/javascript", ".json": "application/json"}
PATIENCE_MS = 60_000
# An attestation object with format "none".
CREDENTIAL = (
    "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUv6vDdDKViwYzYNOtZGHJxHNa5/jt1GWSpeDwFFKy5LVFAAAABwAAAAAAAAAA"
    "AAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg+lAQIDJiABIVggJu/OvQ7p40pmkYfhizqRIrL3M5RbZJzJ+fkh6fna2BIiWCCQI4ve"
    "nMe7Mw0VDGdwTdJa5wVSBXRLbzG/QHB0WHLQ5g=="
)

# This code runs in the worker; the test checks the messages that it posts.
WORKER = b"""
import { instantiate, memoryOf } from "/browser/test/memory_of.js";
import { runFile } from "/browser/test/vectors.js";

const largest = { asked: 0 };
const original = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (bytes) => ((largest.asked = Math.max(largest.asked, bytes.length)), original(bytes));

async function codeOf(work) {
  try { await work(); } catch (error) { return [error.name, error.code ?? null]; }
  return null;
}

// Looked for without a call, which would lock an idle vault itself.
const DEVICE = "a name that stands in the database alone";
const isOpen = (enclave) => new TextDecoder("latin1").decode(memoryOf(enclave)).includes(DEVICE);

async function run({ sha256, credential, key }) {
  const made = await instantiate("/enclave.wasm");
  const identity = made.call("generate", { credential, key, device_name: DEVICE });
  const digest = new Uint8Array(32).fill(5);
  const { signature } = made.call("sign", { digest });
  const exported = made.call("export", { password: "correct horse" });
  const before = memoryOf(made).length;
  const hash = made.call("keccak256", { data: new Uint8Array(4 << 20) }).hash; // the memory grows, its views go stale
  const { database } = made.call("lock");
  const other = await instantiate(new URL("/enclave.wasm", location.href), { sha256 });
  const unlocked = other.call("load", { database, key });
  other.wipe();
  other.wipe();
  const idle = await instantiate("/enclave.wasm");
  idle.call("load", { database, key });
  idle.call("set_auto_lock", { idle_seconds: 1 });
  const opened = isOpen(idle);
  for (let turn = 0; turn < 300 && isOpen(idle); turn++) await new Promise((resolve) => setTimeout(resolve, 100));
  return {
    worker: typeof document === "undefined", did: identity.did, public_key: identity.public_key, signature, hash,
    exported: exported.data, database, unlocked: unlocked.success, grew: memoryOf(made).length > before,
    opened, locked: !isOpen(idle), largest: largest.asked,
    errors: [
      await codeOf(() => made.call("sign", { digest })),
      await codeOf(() => other.call("version")),
      await codeOf(() => instantiate("/enclave.wasm", { sha256: "0".repeat(64) })),
      await codeOf(() => instantiate("/nowhere.wasm")),
    ],
  };
}

async function vectors(names) {
  const wasm = await WebAssembly.compileStreaming(fetch("/enclave.wasm"));
  const seen = { cases: 0, failures: [] };
  for (const name of names) {
    const ran = await runFile(wasm, await (await fetch("/" + name)).text());
    seen.cases += ran?.cases ?? 0;
    seen.failures.push(...(ran?.failures ?? []).map((failure) => `${name} ${failure}`));
  }
  return seen;
}

onmessage = async ({ data }) => {
  try { postMessage({ ...(await run(data)), ran: await vectors(data.names) }); } catch (error) { postMessage({ failed: String(error.stack ?? error) }); }
};
"""
ASK = """
(input) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(input);
})
"""


class Site(Pages):
    headers_of_all = (("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"),)

    def page(self):
        if self.path == "/enclave.wasm":
            return bundled().read_bytes(), "application/wasm"
        file = ROOT / self.path.lstrip("/")
        if self.path.startswith(("/browser/", "/vectors/")) and file.is_file():
            return file.read_bytes(), TYPES[file.suffix]
        own = {"/": (b"<!doctype html><title>Wallet</title>", "text/html"), "/worker.js": (WORKER, "text/javascript")}
        return own.get(self.path, (b"", ""))


@pytest.fixture
def site():
    with serving(Site) as address:
        yield address


async def test_a_worker_makes_signs_exports_and_locks(browser, site):
    key = {"kind": "secret", "secret": base64.b64encode(bytes(range(32))).decode()}
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(site)
    seen = await page.evaluate(
        ASK, {"sha256": bundled_sha256(), "credential": CREDENTIAL, "key": key, "names": list(VECTORS)}
    )
    assert "failed" not in seen, seen.get("failed")
    assert seen["worker"] is True
    assert seen["unlocked"] is True
    assert seen["grew"] is True
    assert seen["opened"] is True
    assert seen["locked"] is True, "the worker's own timer did not lock it"
    assert 0 < seen["largest"] <= 65536
    assert seen["errors"] == [
        ["PluginCallError", "vault_locked"],
        ["PluginCallError", None],
        ["WasmLoadError", None],
        ["WasmLoadError", None],
    ]
    assert seen["ran"] == {"cases": sum(len(it["cases"]) for it in VECTORS.values()), "failures": []}
    the_same_in_python(seen, key)


def the_same_in_python(seen, key):
    """Verify, open and import in the Python host what the browser's enclave created."""
    with Enclave() as enclave:
        valid = enclave.call(
            "verify_signature", public_key=seen["public_key"], digest=b"\5" * 32, signature=seen["signature"]
        )
        assert valid == {"valid": True}
        assert enclave.call("keccak256", data=bytes(4 << 20))["hash"] == seen["hash"]
        assert enclave.call("load", database=seen["database"], key=key)["did"] == seen["did"]
    with Enclave() as enclave:
        imported = enclave.call("import", data=seen["exported"], password="correct horse", key=key)
        assert imported["did"] == seen["did"]
