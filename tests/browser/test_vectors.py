"""Vectors of several kinds pass in a module worker in Chromium, as all of them do in Node and Python.

`tests/enclave/test_js_host.py` runs all of them in Node, which has the same JavaScript engine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.pages import Pages, serving

from holdfast.enclave import bundled

if TYPE_CHECKING:
    from playwright.async_api import Browser

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("webauthn/valid", "sync/exchange", "ucan/verify_valid", "enclave/life_valid", "enclave/export_valid")
VECTORS = {f"vectors/{name}.json": json.loads((ROOT / "vectors" / f"{name}.json").read_text()) for name in NAMES}
PATIENCE_MS = 60_000
WORKER = b"""
import { runFile } from "/browser/test/vectors.js";
onmessage = async ({ data }) => {
  const wasm = await WebAssembly.compileStreaming(fetch("/enclave.wasm"));
  const seen = { cases: 0, failures: [] };
  for (const name of data) {
    const ran = await runFile(wasm, await (await fetch("/" + name)).text());
    seen.cases += ran?.cases ?? 0;
    seen.failures.push(...(ran?.failures ?? []).map((failure) => `${name} ${failure}`));
  }
  postMessage(seen);
};
"""
RUN = """
(names) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(names);
})
"""


class Site(Pages):
    headers_of_all = (("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"),)

    def page(self) -> tuple[bytes, str]:
        own = {"/": (b"<!doctype html><title>Vectors</title>", "text/html"), "/worker.js": (WORKER, "text/javascript")}
        if self.path == "/enclave.wasm":
            return bundled().read_bytes(), "application/wasm"
        file = ROOT / self.path.lstrip("/")
        if self.path.startswith(("/browser/", "/vectors/")) and file.is_file():
            return file.read_bytes(), "text/javascript" if file.suffix == ".js" else "application/json"
        return own.get(self.path, (b"", ""))


async def test_vectors_in_a_browser(browser: Browser) -> None:
    with serving(Site) as address:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(address)
        seen = await page.evaluate(RUN, list(VECTORS))
    assert seen["failures"] == []
    assert seen["cases"] == sum(len(it["cases"]) for it in VECTORS.values())
