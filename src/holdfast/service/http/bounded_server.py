"""A small threaded WSGI server for the admin port, which bounds connections, their duration and their requests' size.

Python's own server gives every connection a thread, and a client that sends nothing or a byte now and then keeps it.
"""

from __future__ import annotations

import io
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from holdfast.rules.limits import ADMIN_CONNECTIONS, BODY_TIMEOUT_S

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication, WSGIEnvironment

MAX_REQUEST_BYTES = 256 * 1024  # with its head
_ARRIVED = "holdfast.arrived"


@dataclass(slots=True)
class _Connection:
    """An open connection: its client's address, when it began, and whether its request has arrived completely."""

    address: str
    began: float
    arrived: bool = False


class BoundedServer(ThreadingMixIn, WSGIServer):
    """Serves one request on each connection, in a thread.

    A request must arrive within `request_s` seconds. If `most` connections are open, a new one takes the place of the
    oldest whose request has not arrived, of the address that has most of these, so that silent clients shut no one out.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        host: str,
        port: int,
        application: WSGIApplication,
        *,
        most: int = ADMIN_CONNECTIONS,
        request_s: float = BODY_TIMEOUT_S,
    ) -> None:
        """Listen. Raises OSError if the port is in use."""
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = found[0][0]
        self.most, self.request_s = most, request_s
        self._lock = threading.Lock()
        self._open: dict[socket.socket, _Connection] = {}  # the oldest first
        super().__init__(cast("tuple[str, int]", found[0][4][:2]), _Handler)
        self.set_app(application)

    def start(self) -> None:
        """Serve in a thread until the process ends."""
        threading.Thread(target=self.serve_forever, name="admin", daemon=True).start()

    def server_bind(self) -> None:
        """Bind without asking the DNS for the host's name, which nothing needs."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Note a new connection. Return whether it is served."""
        with self._lock:
            has_place = len(self._open) < self.most or self._make_room()
            if has_place:
                self._open[request] = _Connection(client_address[0], time.monotonic())
            return has_place

    def arrived(self, request: socket.socket) -> None:
        """Note that the connection's request has arrived completely."""
        with self._lock:
            if (connection := self._open.get(request)) is not None:
                connection.arrived = True

    def service_actions(self) -> None:
        """End connections whose requests take too long; the server calls this twice a second."""
        began_before = time.monotonic() - self.request_s
        with self._lock:
            late = [it for it, one in self._open.items() if not one.arrived and one.began < began_before]
            for request in late:
                self._end(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection after its response, and forget it."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing, unlike the base class, which prints the client's address."""

    def _make_room(self) -> bool:
        waiting = {it: one.address for it, one in self._open.items() if not one.arrived}
        if not waiting:
            return False
        (most, _), *_ = Counter(waiting.values()).most_common(1)
        self._end(next(it for it, address in waiting.items() if address == most))
        return True

    def _end(self, request: socket.socket) -> None:
        """Wake the thread that reads from this connection; it then closes it."""
        del self._open[request]
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)


class _Handler(WSGIRequestHandler):
    """Logs nothing, because paths and queries may name people."""

    server: BoundedServer
    timeout = BODY_TIMEOUT_S  # for a read, and for all of a response

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_Limited(self.connection, MAX_REQUEST_BYTES))

    def handle(self) -> None:
        with suppress(OSError):  # the connection has ended or broken
            super().handle()

    def get_stderr(self) -> io.StringIO:
        """Return where wsgiref describes errors: nowhere, because the application logs its own."""
        return io.StringIO()

    def get_environ(self) -> WSGIEnvironment:
        return {**super().get_environ(), _ARRIVED: lambda: self.server.arrived(self.connection)}

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


def request_arrived(environ: WSGIEnvironment) -> None:
    """Tell the server that the application has read all of the request that it needs."""
    environ[_ARRIVED]()


class _Limited(socket.SocketIO):
    """Reads from a socket, up to a number of bytes. An early end is an error, because half a head looks like a head."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        super().__init__(connection, "r")
        self._left = most

    def readinto(self, buffer: Any) -> int | None:
        """See io.RawIOBase. Raises ConnectionAbortedError at the end."""
        count = super().readinto(memoryview(buffer)[: self._left]) if self._left else 0
        if not count:
            raise ConnectionAbortedError
        self._left -= count
        return count
