"""Fake upstreams on loopback sockets, with any response that a chain endpoint, bundler or indexer might send."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Upstream:
    """A server that sends the response that a test sets, and records the requests."""

    url: str = ""
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    answer: Callable[[web.Request, bytes], Any] = lambda _request, _body: web.json_response({})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.requests.append((request.method, request.raw_path, dict(request.headers), body))
        answer = self.answer(request, body)
        response: web.StreamResponse = await answer if asyncio.iscoroutine(answer) else answer
        return response


@asynccontextmanager
async def upstream(tls: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    """Yield a running fake upstream, without TLS unless `tls` has its certificate."""
    served = Upstream()
    app = web.Application(client_max_size=2**25)
    app.router.add_route("*", "/{tail:.*}", served.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    served.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield served
    finally:
        await runner.cleanup()


def rpc_results(results: dict[str, Any]) -> Callable[[web.Request, bytes], web.Response]:
    """Return a JSON-RPC handler with a result, or a function of the params, per method; other methods are errors."""
    return lambda _request, body: web.json_response(rpc_replies(body, results))


def rpc_replies(body: bytes, results: dict[str, Any]) -> Any:
    asked = json.loads(body)
    return [_reply(one, results) for one in asked] if isinstance(asked, list) else _reply(asked, results)


def _reply(asked: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    base = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] not in results:
        return {**base, "error": {"code": -32601, "message": "no such method"}}
    result = results[asked["method"]]
    return {**base, "result": result(*asked["params"]) if callable(result) else result}


@asynccontextmanager
async def scripted(
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]],
) -> AsyncIterator[tuple[int, list[asyncio.StreamWriter]]]:
    """Run a server that handles each connection with `talk(reader, writer, number_of_this_connection)`."""
    connections: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        try:
            await talk(reader, writer, len(connections))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], connections
    finally:
        server.close()
        for writer in connections:
            writer.transport.abort()
        await server.wait_closed()
        await asyncio.sleep(0.01)


@asynccontextmanager
async def raw_upstream(answer: bytes, drip_s: float = 0.0) -> AsyncIterator[str]:
    """Run an upstream that sends these bytes in response to any request, one byte at a time if `drip_s` is given."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _number: int) -> None:
        await reader.read(65536)
        for piece in [answer] if not drip_s else [answer[n : n + 1] for n in range(len(answer))]:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(drip_s)

    async with scripted(speak) as (port, _):
        yield f"http://127.0.0.1:{port}"
