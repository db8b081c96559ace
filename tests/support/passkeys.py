"""Pages of a running service with the JavaScript client loaded, and virtual authenticators (CDP's WebAuthn domain)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Route
from tests.support.chain_service import ChainService
from tests.support.serving import Server
from tests.support.unbuilt_client import serve_sources

from holdfast.chain.errors import RpcError

PATIENCE_MS = 60_000
AUTHENTICATOR = {
    "protocol": "ctap2", "ctap2Version": "ctap2_1", "transport": "internal", "hasResidentKey": True,
    "hasUserVerification": True, "hasPrf": True, "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip
# Loads the client into the page as an application's script would, and makes all exports available as `hf`.
LOAD = "async () => { window.hf = await import('/client/holdfast.js'); }"
CLIENT = """
async (options) => {
  window.events = [];
  window.client = new hf.Client({onEvent: (event) => events.push(event), ...options});
  for (const name of ["locked", "taken", "failed"]) client.vault.addEventListener(name, () => events.push({type: name}));
  return client.boot();
}
"""
MAKE = """
async ({name, options}) => {
  window.passkey = await client.createPasskey({userName: name, ...options});
  const made = await client.vault.generate({credential: passkey.credential}, await hf.passkeyKey(passkey));
  return {did: made.did, credentialId: passkey.credentialId, fields: Object.keys(passkey), made};
}
"""
# Runs code in the page, and reports the result or the error.
OUTCOME = """
async () => {
  try {
    return {value: await (async () => { CODE })()};
  } catch (error) {
    const {name, message, reason, code, status, functionName} = error;
    return {name, message, reason, code, status, functionName, cause: error.cause?.name ?? null,
            isServiceError: error instanceof hf.ServiceError};
  }
}
"""
# A page with the same CSP as the service's pages: no inline code, no other origin, Trusted Types required.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; base-uri 'none';"
    " require-trusted-types-for 'script'; trusted-types hf"
)
PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


class Authenticator:
    def __init__(self, session: CDPSession) -> None:
        self.session = session
        self.id = ""

    @classmethod
    async def of(cls, page: Page, **changes: Any) -> Authenticator:
        made = cls(await page.context.new_cdp_session(page))
        await made.session.send("WebAuthn.enable", {"enableUI": False})
        await made.add(**changes)
        return made

    async def add(self, **changes: Any) -> None:
        added = await self.session.send("WebAuthn.addVirtualAuthenticator", {"options": {**AUTHENTICATOR, **changes}})
        self.id = added["authenticatorId"]

    async def send(self, command: str, **params: Any) -> Any:
        return await self.session.send(f"WebAuthn.{command}", {"authenticatorId": self.id, **params})

    async def credentials(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.send("getCredentials"))["credentials"]
        return found

    async def remove(self) -> None:
        await self.send("removeVirtualAuthenticator")


async def new_page(browser: Browser | BrowserContext, server: Server, *, unbuilt: bool = False) -> Page:
    """Return a page on the service's own origin, with the client as `hf`; `unbuilt` if single modules are imported."""
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    if unbuilt:
        await serve_sources(page)
    await visit(page, server)
    return page


async def page_with_vault(browser: Browser | BrowserContext, server: Server) -> Page:
    page = await new_page(browser, server)
    await Authenticator.of(page)
    await page.evaluate(CLIENT, {})
    await page.evaluate(MAKE, {"name": "ada", "options": {}})
    return page


async def visit(page: Page, server: Server) -> None:
    async def answer(route: Route) -> None:
        await route.fulfill(body="<!doctype html><title>App</title>", content_type="text/html", headers=PAGE_HEADERS)

    await page.route("**/app", answer)
    await page.goto(f"http://localhost:{server.port}/app")
    await page.evaluate(LOAD)


async def outcome(page: Page, code: str) -> dict[str, Any]:
    """Return the code's result as `value`, or the error that it threw."""
    told: dict[str, Any] = await page.evaluate(OUTCOME.replace("CODE", code))
    return told


async def answer_rpc(page: Page, chain: ChainService) -> str:
    """Serve the chain's JSON-RPC on the page's own origin, the only one that the page's CSP allows."""

    async def answer(route: Route) -> None:
        asked: Any = route.request.post_data_json
        try:
            told: dict[str, Any] = {"result": chain.rpc(asked["method"], *asked["params"])}
        except RpcError as error:
            told = {"error": {"code": error.code, "message": str(error)}}
        await route.fulfill(json={"jsonrpc": "2.0", "id": asked["id"], **told})

    await page.route("**/chain-rpc", answer)
    return urljoin(page.url, "/chain-rpc")
