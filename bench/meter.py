"""A TCP relay between a browser and the service, which counts the bytes that the service sends."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PIECE = 65536


class Meter:
    """`url` leads to the service; `sent` is the number of bytes that it has sent since `reset`."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.Task[None]] = set()
        self.sent = 0
        self.url = ""

    def reset(self) -> int:
        """Return the number of bytes counted, and reset the counter to zero."""
        sent, self.sent = self.sent, 0
        return sent

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection from the browser."""
        upstream, asked = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pass(reader, asked, 0), self._pass(upstream, writer, 1))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counted: int) -> None:
        try:
            while piece := await reader.read(PIECE):
                self.sent += len(piece) * counted
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def metered(address: str) -> AsyncIterator[Meter]:
    """Relay to the service at `address` from a free port."""
    meter = Meter(int(address.rpartition(":")[2]))
    server = await asyncio.start_server(meter.relay, "127.0.0.1", 0)
    meter.url = f"http://localhost:{server.sockets[0].getsockname()[1]}"
    try:
        yield meter
    finally:
        server.close()
