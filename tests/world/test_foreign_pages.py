"""The chain of `holdfast dev` takes no orders from web pages of other origins."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from tests.support.availability import why_no_chain

from holdfast.chain.transports import AiohttpTransport
from holdfast.world import development
from holdfast.world.anvil import ChainOptions, start_chain
from holdfast.world.development import DevelopmentOptions, develop
from holdfast.world.processes import Supervisor
from holdfast.world.tools import find_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from holdfast.world.local_world import WorldOptions

OWN, FOREIGN = "http://localhost:8787", "https://page.example"
ACCOUNT = "0x" + "11" * 20


async def as_a_browser_would(session: aiohttp.ClientSession, url: str, origin: str, kind: str, body: Any) -> bool:
    """Send JSON-RPC for a page; return whether the browser lets it through (Fetch, sections 3.3.3 and 4.8)."""
    if kind == "application/json":  # needs a preflight
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "content-type"
        async with session.options(url, headers=asked) as answer:
            if answer.headers.get("Access-Control-Allow-Origin") not in {"*", origin}:
                return False
    async with session.post(url, json=body, headers={"Origin": origin, "Content-Type": kind}):
        return True


@pytest.mark.parametrize(
    ("origin", "kind", "done"),
    [
        (OWN, "application/json", True),
        (FOREIGN, "application/json", False),
        (FOREIGN, "text/plain", False),
        (FOREIGN, "application/x-www-form-urlencoded", False),
    ],
)
async def test_only_the_services_pages_change_the_chain(tmp_path: Path, origin: str, kind: str, *, done: bool) -> None:
    if why := why_no_chain():
        pytest.skip(why)
    tools = await find_tools(lambda _: None)
    async with aiohttp.ClientSession() as session, Supervisor(tmp_path, ()) as supervisor:
        transport = AiohttpTransport(session)
        chain = await start_chain(supervisor, tools, transport, ChainOptions(origin=OWN))
        body = {"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": [ACCOUNT, "0x5"]}
        await as_a_browser_would(session, chain.rpc_url, origin, kind, body)
        assert await chain.rpc.call("eth_getBalance", [ACCOUNT, "latest"]) == ("0x5" if done else "0x0")


async def test_the_world_names_its_services_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[WorldOptions] = []

    @asynccontextmanager
    async def seen(options: WorldOptions, _say: object) -> AsyncIterator[None]:
        asked.append(options)
        raise RuntimeError("enough")
        yield

    monkeypatch.setattr(development, "open_world", seen)
    with pytest.raises(RuntimeError, match="enough"):
        async with develop(DevelopmentOptions(state=tmp_path, port=0, rpc_port=0, bundler_port=0), lambda _: None):
            pass
    origin = asked[0].chain.origin
    assert origin is not None and origin.startswith("http://localhost:")
