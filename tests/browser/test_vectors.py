"""All of the enclave's vectors pass in a module worker in Chromium, as they do in Node and Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import vector_files
from tests.support.pages import Pages, serving

from holdfast.enclave import bundled

if TYPE_CHECKING:
    from playwright.async_api import Browser

ROOT = Path(__file__).resolve().parents[2]
VECTORS = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "vectors").rglob("*.json"))
PATIENCE_MS = 300_000
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


async def test_every_vector_in_a_browser(browser: Browser) -> None:
    with serving(Site) as address:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(address)
        seen = await page.evaluate(RUN, VECTORS)
    assert seen["failures"] == []
    assert seen["cases"] == len(vector_files.all_cases())
