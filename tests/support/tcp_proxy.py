"""A TCP proxy that cuts the connections between nodes and database, or balances load in front of the nodes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_PART = 65536


class TcpProxy:
    """Forwards connections from a free loopback port to its targets in turn, skipping targets that refuse them.

    While the proxy is cut, it forwards nothing, connections stay open, and new connections get no response.
    """

    def __init__(self, *target_ports: int) -> None:
        self._targets = list(target_ports)
        self.resting: set[int] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tcp-proxy", daemon=True)
        self._thread.start()
        self._whole: asyncio.Event = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server = self._do(asyncio.start_server(self._forward, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._loop.call_soon_threadsafe(self._whole.clear)

    def restore(self) -> None:
        self._loop.call_soon_threadsafe(self._whole.set)

    def close(self) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError), contextlib.closing(writer):
            await self._whole.wait()
            there, to_there = await self._connect()
            with contextlib.closing(to_there):
                await asyncio.gather(self._pump(reader, to_there), self._pump(there, writer))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return a connection to the next target that accepts connections. Raises ConnectionRefusedError."""
        self._targets.append(self._targets.pop(0))
        for port in [port for port in self._targets if port not in self.resting]:
            with contextlib.suppress(ConnectionRefusedError):
                return await asyncio.open_connection("127.0.0.1", port)
        raise ConnectionRefusedError

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while part := await reader.read(_PART):
            await self._whole.wait()
            writer.write(part)
            await writer.drain()
        await self._whole.wait()
        writer.close()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextlib.contextmanager
def proxied(*target_ports: int) -> Iterator[TcpProxy]:
    proxy = TcpProxy(*target_ports)
    try:
        yield proxy
    finally:
        proxy.restore()
        proxy.close()
