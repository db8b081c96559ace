"""The scenario `pages`: what a person waits for on the built pages, in a real Chromium without a window."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bench.alternate import spread
from bench.goals import ENCLAVE_WARM_MS, PAGE_USABLE_MS
from bench.places import ROOT, say
from bench.processes import serving
from bench.report import shown
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from bench.options import Options
    from bench.report import Report

VISITS = 9
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "hasPrf": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip
# Notes when the first screen is drawn, whose button works from then on.
WATCH = """
new MutationObserver((_, watcher) => {
  if (!document.querySelector('main[data-screen]')) return;
  window.usableAt = performance.now();
  watcher.disconnect();
}).observe(document, {subtree: true, childList: true, attributes: true});
"""
BOOT = """async () => {
  const {Vault} = await import("/client/holdfast.js");
  const began = performance.now();
  const vault = new Vault({dbName: "bench"});
  await vault.boot();
  const took = performance.now() - began;
  vault.close();
  return took;
}"""
BYTES = "performance.getEntries().filter((it) => 'transferSize' in it).reduce((sum, it) => sum + it.transferSize, 0)"
REGISTER = """async () => {
  const screen = (name) => new Promise((done) => {
    const look = () => document.querySelector('main').dataset.screen === name ? done() : setTimeout(look, 5);
    look();
  });
  await screen("passkey");
  const began = performance.now();
  document.querySelector('[data-name="create"]').click();
  await screen("safety");
  return performance.now() - began;
}"""


def run(options: Options, report: Report) -> None:
    """Visit the built pages with an empty profile and again, and register."""
    from playwright.sync_api import sync_playwright

    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        say("pages: no Chromium on this machine")
        return
    with _built(options.folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        _visited(browser, address)  # the first page of a browser takes longer, whatever it is
        visits = [_visited(browser, address) for _ in range(VISITS)]
        browser.close()
    rows = []
    for name, goal in _GOALS.items():
        values = spread([visit[name] for visit in visits])
        rows.append(
            [name, shown(values), *([f"<= {goal}", report.verdict(values.median <= goal)] if goal else ["", ""])]
        )
    report.table("Pages in Chromium", ("", "measured", "goal", ""), rows)


_GOALS = {
    "bytes of the first load": None,
    "page usable, cold, ms": PAGE_USABLE_MS,
    "page usable, warm, ms": PAGE_USABLE_MS,
    "enclave ready, cold, ms": None,
    "enclave ready, warm, ms": ENCLAVE_WARM_MS,
    "registration, from the click to the end, ms": None,
}


def _visited(browser: Browser, address: str) -> dict[str, float]:
    context = browser.new_context()
    cold, loaded, enclave_cold = _opened(context, address)
    warm, _, enclave_warm = _opened(context, address)
    took = _registered(context.new_page(), address)
    context.close()
    return dict(zip(_GOALS, (loaded, cold, warm, enclave_cold, enclave_warm, took), strict=True))


def _opened(context: BrowserContext, address: str) -> tuple[float, float, float]:
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_function("window.usableAt")
    page.wait_for_load_state("networkidle")
    figures = page.evaluate("window.usableAt"), page.evaluate(BYTES), page.evaluate(BOOT)
    page.close()
    return figures


def _registered(page: Page, address: str) -> float:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable", {"enableUI": False})
    session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.goto(address)
    page.click('[data-name="register"]')
    page.fill('[name="handle"]', "b" + secrets.token_hex(6))
    page.click('main [data-name="submit"]')
    took: Any = page.evaluate(REGISTER)
    return float(took)


@contextmanager
def _built(folder: Path) -> Iterator[str]:
    """The service with the built client, as a wheel has it: a copy of the package outside of the checkout."""
    package = folder / "installed" / "src" / "holdfast"
    shutil.copytree(ROOT / "src" / "holdfast", package, ignore=shutil.ignore_patterns("__pycache__"))
    _builder().build_served(package / "service" / "static" / "client")
    port = free_port()
    environment = {
        "PYTHONPATH": str(package.parent),
        "HOLDFAST_PORT": str(port),
        "HOLDFAST_PUBLIC_URL": f"http://localhost:{port}",
        "HOLDFAST_DATA_DIR": str(folder / "data"),
        "HOLDFAST_RPC_URL": "http://127.0.0.1:9",
        "MAX_REGISTRATIONS_PER_IP": "100000",
        "PATH": os.environ.get("PATH", os.defpath),
    }
    command = [sys.executable, "-c", "from holdfast.cli import main; main()", "serve"]
    with serving("pages", command, environment, port, folder / "pages.log", on=frozenset()):
        yield f"http://localhost:{port}/"


def _builder() -> Any:
    spec = importlib.util.spec_from_file_location("browser_build", ROOT / "browser" / "build.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("browser/build.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
