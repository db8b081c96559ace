"""The built client makes a vault in a browser, and the modules also work without a build.

Sizes, files and types of the build are tested in tests/packaging/test_browser_client.py.
"""

import pytest
from tests.support.built_client import browser_builder, loaded
from tests.support.passkeys import CLIENT, MAKE, PAGE_HEADERS, PATIENCE_MS, Authenticator, outcome

HEADERS = {"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
           "Cross-Origin-Embedder-Policy": "require-corp"}  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules") / "holdfast-vault"
    browser_builder().build_package(folder)
    return folder


async def test_what_was_built_makes_a_vault_and_opens_it(browser, shared, package):
    context = await browser.new_context()

    async def answer(route):
        name = route.request.url.partition("/client/")[2]
        await route.fulfill(path=package / "dist" / name, content_type="text/javascript", headers=HEADERS)

    async def blank(route):
        await route.fulfill(body="<!doctype html><title>App</title>", content_type="text/html", headers=PAGE_HEADERS)

    await context.route("**/client/**", answer)
    await context.route("**/app", blank)
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    asked = []
    context.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    await page.goto(f"http://localhost:{shared.port}/app")
    await page.evaluate("async () => { window.hf = await import('/client/holdfast.js'); }")
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    first_visit = list(asked)
    made = await page.evaluate(MAKE, {"name": "ada", "options": {}})
    await page.evaluate("client.vault.lock()")
    opened = await outcome(page, "return client.vault.unlock(await hf.passkeyKey(await hf.usePasskey()))")
    assert opened["value"] == {"success": True, "did": made["did"]}
    # The page loads the snapshot module, and sends a test request to the gateway, only after the enclave has loaded.
    client = {file.name for file in loaded(package / "dist", "holdfast.js")}
    enclave = first_visit.index("enclave.wasm")
    assert set(first_visit[:enclave]) == {"app", *client, "worker.js"}
    on_demand = {"main.js", "bafkqaaa?format=raw", "libp2p.js"}  # of the last, only whether it is there
    snapshots = {file.name for file in loaded(package / "dist", "snapshots/main.js")} - client
    assert set(first_visit[enclave + 1 :]) <= on_demand | snapshots, "a first visit asks for nothing else"
