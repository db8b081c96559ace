"""Registration through the page on a real local chain: what the person does, and the chain's state afterwards."""

from __future__ import annotations

import secrets
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
from tests.support.page_visits import Visit, requested

from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from playwright.async_api import Browser
    from tests.support.chain_service import ChainService


async def test_a_person_registers_on_the_chain(browser: Browser, chain: ChainService) -> None:
    server = SimpleNamespace(port=urlsplit(chain.base_url).port)
    context = await browser.new_context()
    origins = requested(context)
    visit = await Visit.of(context, server)  # type: ignore[arg-type]  # a visit needs the port alone
    handle = "h" + secrets.token_hex(6)
    await visit.register(handle)
    did = await visit.text('[data-name="did"]')
    address = visit.page.locator('[data-name="address"]')
    await address.wait_for()
    account = (await address.text_content() or "").replace(" ", "")
    (credential,) = await visit.authenticator.credentials()
    asked = credential["credentialId"].replace("+", "-").replace("/", "_").rstrip("=")
    async with httpx.AsyncClient(base_url=chain.base_url) as http:
        record = (await http.get("/api/dids/lookup", params={"credentialId": asked})).json()
    assert (record["did"], record["identifier"], record["smartAccount"]) == (did, handle, account)
    receipt = chain.receipt(record["txHash"])
    assert receipt is not None and receipt.succeeded
    assert int.from_bytes(chain.read("DIDRegistry", "isDidActive(bytes32)", keccak256(did.encode()))) == 1
    await visit.inspect("vault-on-chain")
    own = f"http://localhost:{server.port}"
    async with httpx.AsyncClient(base_url=chain.base_url) as http:
        endpoint = (await http.get("/api/status")).json()["rpc"]
    assert origins == {own, endpoint.rstrip("/")}, "besides the service, the chain is asked for the price of gas"
    assert visit.complaints == []
