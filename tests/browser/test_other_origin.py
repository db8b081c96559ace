"""An application on another origin loads the modules from the service, and starts its worker from a blob."""

import httpx2
from tests.support.pages import Pages, serving
from tests.support.passkeys import PATIENCE_MS, Authenticator, outcome
from tests.support.unbuilt_client import module


class App(Pages):
    headers_of_all = (("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"))

    def page(self):
        return b"<!doctype html><title>App</title>", "text/html"


class Containing(App):
    """An application that contains the client's modules, as a bundle from npm does."""

    def page(self):
        _, own, name = self.path.partition("/client/")
        return (module(name), "text/javascript") if own else super().page()


async def test_an_isolated_page_of_another_origin_registers(browser, shared):
    service = f"http://localhost:{shared.port}"
    with serving(App) as address:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(address)
        assert await page.evaluate("crossOriginIsolated") is True
        await Authenticator.of(page)
        await page.evaluate("async (url) => { window.hf = await import(`${url}/client/holdfast.js`); }", service)
        await an_interrupted_registration_goes_on(page, service)


async def an_interrupted_registration_goes_on(page, service):
    seen = await outcome(
        page,
        """
        window.client = new hf.Client();
        await client.boot();
        const passkey = await client.createPasskey({userName: "ada"});
        const {did} = await client.vault.generate({credential: passkey.credential}, await hf.passkeyKey(passkey));
        const counted = async () => (await client.registrationCounters()).ip_registrations;
        const before = await counted();
        const registerDid = client.registerDid.bind(client);
        // The request arrives, its answer does not.
        client.registerDid = async (asked) => { await registerDid(asked); throw new hf.NetworkError("cut"); };
        const first = await client.register({handle: "other-origin"}).catch((error) => error.message);
        client.registerDid = () => { throw new Error("asked twice"); };
        const second = await client.register({handle: "other-origin"});
        client.registerDid = registerDid;
        const locks = await navigator.locks.query();
        return {baseUrl: client.baseUrl, same: second.did === did, held: locks.held.length, first,
                identifier: second.identifier, counted: (await counted()) - before};
        """,
    )
    assert seen.get("value") == {
        "baseUrl": service, "same": True, "held": 1, "first": "Network: cut", "identifier": "other-origin", "counted": 1,
    }, seen  # fmt: skip


async def test_an_application_that_contains_the_client_refuses_another_enclave(browser, shared):
    """Unless it says so: a service that serves only the enclave cannot change what guards the keys."""
    async with httpx2.AsyncClient() as http:
        module = (await http.get(f"http://localhost:{shared.port}/enclave.wasm")).content
    foreign = module + bytes([0, 5, 3]) + b"odd" + b"!"  # a custom section, which changes nothing else

    async def answered(route):
        await route.fulfill(body=foreign, content_type="application/wasm", headers={"Access-Control-Allow-Origin": "*"})

    with serving(Containing) as address:
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        await page.goto(address)
        await page.evaluate("async () => { window.hf = await import('/client/holdfast.js'); }")
        boot = f"return new hf.Vault({{wasmUrl: 'http://localhost:{shared.port}/enclave.wasm', ...OPTIONS}}).boot()"
        seen = await outcome(page, boot.replace("OPTIONS", "{}"))
        assert seen.get("value", {}).get("enclave"), seen
        await page.route("**/enclave.wasm", answered)
        refused = await outcome(page, boot.replace("OPTIONS", "{}"))
        assert (refused["name"], refused["message"]) == (
            "WasmLoadError",
            "WASM load failed: the module is not the expected one",
        )
        assert (await outcome(page, boot.replace("OPTIONS", "{sha256: null}")))["value"]["enclave"] is True
