"""The server's life in one process: from its sockets to the last answer."""

from __future__ import annotations

import asyncio
import signal
import socket
from errno import EADDRNOTAVAIL, EAFNOSUPPORT
from typing import TYPE_CHECKING, Protocol

from holdfast.rules.limits import BACKLOG
from holdfast.service.http_server.server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.service.web.http import Request, Response


class Served(Protocol):
    """What is served: the application, or anything that answers."""

    async def start(self) -> None:
        """Open what is needed, on the loop that will ask."""
        ...

    async def stop(self) -> None:
        """Close it, when the last accepted request was answered."""
        ...

    async def respond(self, request: Request) -> Response:
        """The response to one request."""
        ...


def listening_sockets(host: str, port: int) -> list[socket.socket]:
    """A listening socket for each address of the host that this machine has. Raises OSError where it has none."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listening, failure = [], OSError("no address")
    for family, address in dict.fromkeys((family, address) for family, _, _, _, address in infos):
        try:
            listening.append(socket.create_server(address[:2], family=family, backlog=BACKLOG))
        except OSError as error:
            if error.errno not in {EADDRNOTAVAIL, EAFNOSUPPORT}:
                raise
            failure = error
    if not listening:
        raise failure
    return listening


def run(make: Callable[[], Served], sockets: Sequence[socket.socket], stop_within_s: float, life: int = -1) -> None:
    """Serve until SIGTERM or SIGINT, or until the pipe `life`, where there is one, is closed at its other end.

    The end waits for accepted requests, at most `stop_within_s` seconds.
    """
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(make(), sockets, stop_within_s, life))


async def _serve(application: Served, sockets: Sequence[socket.socket], stop_within_s: float, life: int) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if life >= 0:
        loop.add_reader(life, ended.set)
    server = HttpServer(application.respond)
    await application.start()
    await server.start(sockets)
    await ended.wait()
    if life >= 0:
        loop.remove_reader(life)
    await server.stop(stop_within_s)
    await application.stop()
