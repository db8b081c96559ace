"""The local chain's address for tools and for the service's pages, which responds to no other web page.

Anvil checks no origins of WebSockets, so it listens where browsers do not connect, and this server stands before it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from holdfast.world.faucet import PATH
from holdfast.world.front import serve_on_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from holdfast.world.faucet import Faucet

# What JSON-RPC and CORS need; other headers concern one connection.
_REQUEST_HEADERS = ("Content-Type", "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers")
_LARGEST = 64 * 1024 * 1024
_Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


class ChainFront:
    """Forwards HTTP requests and WebSockets to anvil, unless a page of another origin than `origin` sent them."""

    def __init__(self, anvil_url: str, origin: str, session: aiohttp.ClientSession) -> None:
        self._anvil_url = anvil_url
        self._origin = origin
        self._session = session

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Respond to one request; browsers name a page's origin in each that could reach the chain."""
        if request.headers.get("Origin", self._origin) != self._origin:
            raise web.HTTPForbidden
        try:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return await self._socket(request)
            return await self._forwarded(request)
        except aiohttp.ClientError:
            raise web.HTTPBadGateway from None

    async def _forwarded(self, request: web.Request) -> web.Response:
        sent = {name: request.headers[name] for name in _REQUEST_HEADERS if name in request.headers}
        forwarded = self._session.request(request.method, self._anvil_url, data=await request.read(), headers=sent)
        async with forwarded as answer:
            headers = {
                name: value
                for name, value in answer.headers.items()
                if name.lower().startswith(("access-control-", "content-type", "vary"))
            }
            return web.Response(status=answer.status, body=await answer.read(), headers=headers)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        async with self._session.ws_connect(self._anvil_url, max_msg_size=_LARGEST) as chain:
            tool = web.WebSocketResponse(max_msg_size=_LARGEST)
            await tool.prepare(request)
            pumps = [asyncio.ensure_future(_pump(tool, chain)), asyncio.ensure_future(_pump(chain, tool))]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
            await tool.close()
            return tool


async def _pump(source: _Socket, target: _Socket) -> None:
    with suppress(ConnectionError):
        async for message in source:
            if message.type is aiohttp.WSMsgType.TEXT:
                await target.send_str(message.data)
            elif message.type is aiohttp.WSMsgType.BINARY:
                await target.send_bytes(message.data)


@asynccontextmanager
async def serve_chain(anvil_url: str, origin: str, port: int = 0, faucet: Faucet | None = None) -> AsyncIterator[str]:
    """Serve on loopback until the `with` block ends, and yield the server's address."""
    async with aiohttp.ClientSession() as session:
        application = web.Application(client_max_size=_LARGEST)
        application.router.add_route("*", "/", ChainFront(anvil_url, origin, session).answer)
        if faucet is not None:
            application.router.add_post(PATH, faucet.answer)
        async with serve_on_loopback(application, port) as url:
            yield url
