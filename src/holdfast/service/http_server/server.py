"""The server in one process: its connections, its clock, its end."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from holdfast.rules.limits import BACKLOG
from holdfast.service.http_server.answers import date_line
from holdfast.service.http_server.connection import Connection
from holdfast.service.http_server.runners import Runners

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.service.web.http import Request, Response

_TICK_S = 0.5
_LAST_READ_S = 0.05  # what had arrived when the end was announced is read within this time
_HALF_A_HEAD_S = 1.0  # for the rest of a request that has begun
_POLL_S = 0.01


class HttpServer:
    """Has requests answered by `respond`, and all answers of a turn written together.

    `now` is the loop's clock and `date_line` the Date header, both at most half a second old: a deadline needs no more.
    """

    def __init__(self, respond: Callable[[Request], Awaitable[Response]]) -> None:
        self.loop = asyncio.get_running_loop()
        self.runners = Runners(self.loop)
        self._outbox: list[Connection] = []
        self._listeners: list[asyncio.Server] = []
        self._ticking: asyncio.TimerHandle | None = None
        self.respond = respond
        self.connections: set[Connection] = set()
        self.stopping = False
        self.now = 0.0
        self.date_line = b""

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Accept connections on these sockets."""
        self._tick()
        for listening in sockets:
            make: Callable[[], Connection] = lambda: Connection(self)  # noqa: E731 - the loop calls it for each client
            self._listeners.append(await self.loop.create_server(make, sock=listening, backlog=BACKLOG))

    def flush_soon(self, connection: Connection) -> None:
        """Write this connection's answers after all that are being made in this turn."""
        if not self._outbox:
            self.loop.call_soon(self._flush)
        self._outbox.append(connection)

    def _flush(self) -> None:
        ready, self._outbox = self._outbox, []
        for connection in ready:
            connection.flush()

    def _tick(self) -> None:
        self._ticking = self.loop.call_later(_TICK_S, self._tick)
        self.now = self.loop.time()
        self.date_line = date_line(time.time())
        for connection in [each for each in self.connections if each.deadline <= self.now]:
            connection.overdue()

    async def stop(self, within_s: float) -> None:
        """Answer what was read, close what is idle, accept nothing more; after `within_s` seconds end the rest too."""
        self.stopping = True
        await asyncio.sleep(_LAST_READ_S)
        for listener in self._listeners:
            listener.close()
        began = self.loop.time()
        while self.connections and (waited := self.loop.time() - began) < within_s:
            for connection in [each for each in self.connections if each.idle]:
                if waited > _HALF_A_HEAD_S or not connection.in_head:
                    connection.close()
            await asyncio.sleep(_POLL_S)
        self.runners.cancel()
        for connection in list(self.connections):
            connection.abort()
        if self._ticking:
            self._ticking.cancel()
