"""Tasks that answer requests, kept from one to the next: making one costs as much as answering some requests."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from holdfast.service.http_server.connection import Connection
    from holdfast.service.http_server.request import IncomingRequest

_PARKED = 64  # more than this many that wait for work are let go


class Runners:
    """A turn's requests are answered by one task after the other; where one has to wait, another task takes over."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ready: deque[tuple[Connection, IncomingRequest]] = deque()
        self._parked: list[asyncio.Future[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking = False

    def answer(self, connection: Connection, request: IncomingRequest) -> None:
        """Have the request answered when this turn's reading is done."""
        self._ready.append((connection, request))
        if not self._looking:
            self._looking = True
            self._wake()

    def cancel(self) -> None:
        """End what still runs."""
        for task in self._tasks:
            task.cancel()

    def _wake(self) -> None:
        """Set a task to work, and look again after it: what is left then is left because that task waits."""
        if self._parked:
            self._parked.pop().set_result(None)
        else:
            task = self._loop.create_task(self._run())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._loop.call_soon(self._look)

    def _look(self) -> None:
        if self._ready:
            self._wake()
        else:
            self._looking = False

    async def _run(self) -> None:
        while True:
            while self._ready:
                connection, request = self._ready.popleft()
                await connection.answer(request)
                del connection, request  # whoever is parked keeps neither a body nor a connection
            if len(self._parked) >= _PARKED:
                return
            parked = self._loop.create_future()
            self._parked.append(parked)
            await parked
