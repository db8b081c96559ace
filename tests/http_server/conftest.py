"""The server alone, on real sockets, with handlers of the tests' own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import uvloop

from holdfast.service.http_server import connection as connections
from holdfast.service.http_server import server as servers
from holdfast.service.http_server.process import listening_sockets
from holdfast.service.http_server.server import HttpServer
from holdfast.service.web.http import Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from holdfast.service.web.http import Request


def pytest_asyncio_loop_factories(config: object, item: object) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every test here runs on both loops."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every time limit is so short that a test can wait for it."""
    for name in ("HEAD_TIMEOUT_S", "IDLE_TIMEOUT_S", "BODY_TIMEOUT_S", "WRITE_TIMEOUT_S", "LINGER_S"):
        monkeypatch.setattr(connections, name, 0.3)
    monkeypatch.setattr(servers, "_TICK_S", 0.05)


class Client:
    """Bytes to the server, bytes back."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """One answer, by its length."""
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 60)).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        body = await asyncio.wait_for(self.reader.readexactly(int(headers.get("content-length", 0))), 60)
        return int(first.split()[1]), headers, body

    async def rest(self) -> bytes:
        """All that comes until the server closes."""
        return await asyncio.wait_for(self.reader.read(), 60)


class House:
    """The running server; `/wait` is answered when `release` is set, `/echo` repeats the body, `/big` is large."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.entered = asyncio.Event()
        self.finished: list[str] = []
        self.seen: list[Request] = []
        self.server = HttpServer(self.respond)
        self.port = 0
        self._clients: list[Client] = []

    async def respond(self, request: Request) -> Response:
        self.seen.append(request)
        if request.path == "/wait":
            self.entered.set()
            await self.release.wait()
        body = await request.body(1000) if request.path == "/echo" else request.path.encode()
        if request.path == "/big":
            body = b"x" * 20_000_000
        if request.path == "/broken":
            raise RuntimeError("a fault of the application's own")
        if request.path == "/splits":
            return Response(200, [("location", "x\r\nset-cookie: a=b")], b"")
        self.finished.append(request.path)
        return Response(200, [("content-type", "text/plain")], body, "id")

    async def client(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self._clients.append(client)
        return client

    async def ask(self, data: bytes) -> Client:
        client = await self.client()
        await client.send(data)
        return client

    async def close(self) -> None:
        self.release.set()
        for client in self._clients:
            client.writer.close()
        await self.server.stop(5)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    running = House()
    (listening,) = listening_sockets("127.0.0.1", 0)
    running.port = listening.getsockname()[1]
    await running.server.start([listening])
    yield running
    await running.close()
