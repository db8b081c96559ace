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
    """An open connection.

    Attributes:
        address: the client's.
        since: when its request began to arrive, or its response to be sent.
        is_in_work: whether the request has arrived and the response does not exist yet; only then is the client not
            what the connection waits for.
    """

    address: str
    since: float
    is_in_work: bool = False


class BoundedServer(ThreadingMixIn, WSGIServer):
    """Serves one request on each connection, in a thread.

    A request must arrive within `request_s` seconds, and its response be taken in the same time. If `most` connections
    are open, a new one takes the place of the one that has waited longest for its client, of the address that has most
    of these, so that clients that send or read nothing shut no one out.
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
            has_room = len(self._open) < self.most or self._make_room()
            if has_room:
                self._open[request] = _Connection(client_address[0], time.monotonic())
            return has_room

    def arrived(self, request: socket.socket) -> None:
        """Note that the connection's request has arrived completely."""
        self._note(request, is_in_work=True)

    def responds(self, request: socket.socket) -> None:
        """Note that the response to the connection's request is being sent."""
        self._note(request, is_in_work=False)

    def service_actions(self) -> None:
        """End connections that have waited for their clients too long; the server calls this twice a second."""
        before = time.monotonic() - self.request_s
        with self._lock:
            late = [it for it, one in self._waiting() if one.since < before]
            for request in late:
                self._end(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection after its response, and forget it."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing, unlike the base class, which prints the client's address."""

    def _note(self, request: socket.socket, *, is_in_work: bool) -> None:
        with self._lock:
            if (connection := self._open.get(request)) is not None and connection.is_in_work != is_in_work:
                connection.is_in_work, connection.since = is_in_work, time.monotonic()

    def _waiting(self) -> list[tuple[socket.socket, _Connection]]:
        return [(it, one) for it, one in self._open.items() if not one.is_in_work]

    def _make_room(self) -> bool:
        waiting = self._waiting()
        if not waiting:
            return False
        of_address = Counter(one.address for _, one in waiting)
        longest, _ = min(waiting, key=lambda each: (-of_address[each[1].address], each[1].since))
        self._end(longest)
        return True

    def _end(self, request: socket.socket) -> None:
        """Wake the thread that reads from this connection or writes to it; it then closes it."""
        del self._open[request]
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)


class _Handler(WSGIRequestHandler):
    """Logs nothing, because paths and queries may name people."""

    server: BoundedServer

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.request_s)  # for a read or a write
        self.rfile = io.BufferedReader(_Limited(self.connection, MAX_REQUEST_BYTES))
        self.wfile = _Response(self.connection, self.server)

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


class _Response(io.BufferedIOBase):
    """Writes to a socket, and tells the server so."""

    def __init__(self, connection: socket.socket, server: BoundedServer) -> None:
        self._connection = connection
        self._server = server

    def write(self, data: Any) -> int:
        """See io.BufferedIOBase."""
        self._server.responds(self._connection)
        self._connection.sendall(data)
        return len(data)


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
