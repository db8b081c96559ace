"""The chain of `holdfast dev` takes no orders from web pages of other origins."""

from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from tests.support.availability import why_no_chain

from holdfast.chain.transports import AiohttpTransport
from holdfast.world import development
from holdfast.world.anvil import ChainOptions, start_chain
from holdfast.world.chain_front import serve_chain
from holdfast.world.development import DevelopmentOptions, develop
from holdfast.world.ports import BLOCKED_IN_BROWSERS
from holdfast.world.processes import Supervisor
from holdfast.world.tools import find_tools

OWN, FOREIGN = "http://localhost:8787", "https://page.example"
ACCOUNT = "0x" + "11" * 20
GIFT = {"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": [ACCOUNT, "0x5"]}


async def as_a_browser_would(session, url, origin, kind, body):
    """Send JSON-RPC for a page, if the browser lets it through (Fetch, sections 3.3.3 and 4.8)."""
    if kind == "application/json":  # needs a preflight
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "content-type"
        async with session.options(url, headers=asked) as answer:
            if answer.headers.get("Access-Control-Allow-Origin") not in {"*", origin}:
                return
    await session.post(url, json=body, headers={"Origin": origin, "Content-Type": kind})


@pytest_asyncio.fixture
async def guarded(tmp_path):
    """A chain as `holdfast dev` runs it, and its address for tools and pages."""
    if why := why_no_chain():
        pytest.skip(why)
    tools = await find_tools(lambda _: None)
    async with aiohttp.ClientSession() as session, Supervisor(tmp_path, ()) as supervisor:
        transport = AiohttpTransport(session)
        chain = await start_chain(supervisor, tools, transport, ChainOptions(origin=OWN))
        async with serve_chain(chain.rpc_url, OWN) as url:
            yield chain, url


async def test_only_the_services_pages_change_the_chain(guarded):
    chain, url = guarded
    assert urlsplit(chain.rpc_url).port in BLOCKED_IN_BROWSERS, "no browser connects to Anvil itself"
    async with aiohttp.ClientSession() as session:
        for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            await as_a_browser_would(session, url, FOREIGN, kind, GIFT)
        assert await balance(chain) == "0x0"
        await as_a_browser_would(session, url, OWN, "application/json", GIFT)
    assert await balance(chain) == "0x5"


async def test_a_websocket_of_a_foreign_page_is_refused(guarded):
    chain, url = guarded
    async with aiohttp.ClientSession() as session:
        for origin in (FOREIGN, "null", "http://localhost:1"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await session.ws_connect(url, origin=origin)
        for origin in (None, OWN):
            async with session.ws_connect(url, origin=origin) as socket:
                await socket.send_json({"jsonrpc": "2.0", "id": 2, "method": "eth_subscribe", "params": ["newHeads"]})
                subscription = (await socket.receive_json())["result"]
                await chain.rpc.call("evm_mine")
                assert (await socket.receive_json())["params"]["subscription"] == subscription


async def balance(chain):
    return await chain.rpc.call("eth_getBalance", [ACCOUNT, "latest"])


async def test_the_world_names_its_services_pages(monkeypatch, tmp_path):
    asked = []

    @asynccontextmanager
    async def seen(options, _say):
        asked.append(options)
        raise RuntimeError("enough")
        yield

    monkeypatch.setattr(development, "open_world", seen)
    with pytest.raises(RuntimeError, match="enough"):
        async with develop(DevelopmentOptions(state=tmp_path, port=0, rpc_port=0, bundler_port=0), lambda _: None):
            pass
    origin = asked[0].chain.origin
    assert origin is not None and origin.startswith("http://localhost:")
