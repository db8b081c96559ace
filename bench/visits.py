"""One page visit: its bytes, and the time until it is usable, compared with a bare page that fetches the same files."""

from __future__ import annotations

import asyncio
import urllib.request
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request

    from bench.meter import Meter

BARE = "/pay"  # a page of the service without scripts
PATIENCE_MS = 60_000
# Records when the first screen's main button can be pressed.
WATCH = """
window.usable = new Promise((done) => {
  const watcher = new MutationObserver(() => {
    if (!document.querySelector('main[data-screen] #screen button:not([disabled])')) return;
    watcher.disconnect();
    done(performance.now());
  });
  watcher.observe(document, {subtree: true, childList: true, attributes: true});
});
"""
NAMES = """performance.getEntriesByType('resource')
  .filter((it) => it.startTime < window.usableAt && !it.name.includes('/api/')).map((it) => it.name)"""
FETCH = """async ([names, cache]) => {
  const began = performance.now();
  await Promise.all(names.map(async (name) => (await fetch(name, {cache})).arrayBuffer()));
  return performance.now() - began + performance.getEntriesByType("navigation")[0].responseEnd;
}"""
MODULE = "import('/client/holdfast.js').then(() => true)"
BOOT = """async () => {
  const {Vault} = await import("/client/holdfast.js");
  const began = performance.now();
  const vault = new Vault({dbName: "bench"});
  const {enclave} = await vault.boot();
  const took = performance.now() - began;
  vault.close();
  if (!enclave) throw new Error("the enclave is not ready");
  return took;
}"""
INSTANTIATE = """async () => {
  const began = performance.now();
  const env = {host_random: () => 1, host_now_ms: () => 0};
  await WebAssembly.instantiateStreaming(fetch("/enclave.wasm"), {env});
  return performance.now() - began;
}"""


@dataclass(frozen=True, slots=True)
class Load:
    """What a visit loads: the number of responses, the bytes sent by the service, and the bytes after decompression."""

    answers: int
    sent: int
    uncompressed: int


async def loaded(context: BrowserContext, meter: Meter, path: str, *, cold: bool) -> Load:
    """Open a page with a cold or a warm browser cache, and count the traffic until nothing more is loaded."""
    page, _ = await _page(context, cold=cold)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    context.on("requestfinished", note)
    meter.reset()
    await page.goto(meter.url + path)
    await page.wait_for_load_state("networkidle")
    sent = meter.reset()
    context.remove_listener("requestfinished", note)
    await page.close()
    return Load(len(asked), sent, sum([await asyncio.to_thread(_length, url) for url in asked]))


@cache
def _length(url: str) -> int:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return len(answer.read())


async def usable(context: BrowserContext, address: str, path: str, *, cold: bool) -> tuple[float, float]:
    """Return the milliseconds until the first screen's button works and until a bare page has loaded the same files."""
    page, _ = await _page(context, cold=cold)
    await page.add_init_script(WATCH)
    await page.goto(address + path)
    took: float = await page.evaluate("window.usable.then((at) => window.usableAt = at)")
    names: list[str] = await page.evaluate(NAMES)
    await page.wait_for_load_state("networkidle")
    await page.close()
    return took, await _bare(context, address, names, cold=cold)


async def _page(context: BrowserContext, *, cold: bool) -> tuple[Page, CDPSession]:
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    if cold:
        await session.send("Network.clearBrowserCache")
    return page, session


async def _bare(context: BrowserContext, address: str, names: list[str], *, cold: bool) -> float:
    page, _ = await _page(context, cold=cold)
    await page.goto(address + BARE)
    took: float = await page.evaluate(FETCH, [names, "reload" if cold else "no-cache"])
    await page.close()
    return took


async def started(context: BrowserContext, address: str, script: str, *, cold: bool) -> float:
    """Return how many milliseconds a script takes in a bare page that has already loaded the client's module."""
    page, session = await _page(context, cold=False)
    await page.goto(address + BARE)
    await page.evaluate(MODULE)
    if cold:
        await session.send("Network.clearBrowserCache")
    took: float = await page.evaluate(script)
    await page.close()
    return took
