"""Pairing over the local network: an HTTP link with a secret path, shown as a QR code and valid for one pairing."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import socket
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

import httpx2
import msgspec

from holdfast.client.http.transport import whole_body
from holdfast.client.sync.protocol import LIFE_S, MAX_MESSAGE_BYTES, NOT_TAKEN, REFUSED
from holdfast.client.sync.serving import Answering, answer_of, can_wait
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.connection_errors import failed_connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.client.sync.protocol import AsyncPairingServer

_SECRET_BYTES = 16
_MAX_REQUEST_BYTES = 64 * 1024
_SOCKET_S = 30.0
_LENGTH = re.compile("[0-9]{1,9}")


class HttpOffer:
    """Offers a pairing at `link` until the `with` block ends and the last answer is sent.

    Raises OSError if it cannot listen on the address; at the end NetworkError if an answer could not be sent.

    Args:
        server: responds to the pairing's messages.
        host: the address to listen on; by default the machine's address in the local network.
        loop: the event loop of an asyncio vault; not needed for a blocking one.
    """

    def __init__(
        self,
        server: Answering | AsyncPairingServer,
        *,
        host: str | None = None,
        port: int = 0,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._path = "/" + secrets.token_urlsafe(_SECRET_BYTES)
        self._answering, self._can_wait = _Answering(), partial(can_wait, server, loop)
        of_this = {"answer": staticmethod(answer_of(server, loop)), "secret_path": self._path}
        handler = type("Handler", (_Handler,), {**of_this, "answering": self._answering})
        self._server = ThreadingHTTPServer((host or local_address(), port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def link(self) -> str:
        """The URL that the new device opens."""
        address, port = self._server.server_address[:2]
        return f"http://{address!s}:{port}{self._path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        are_sent = kind is not None or self._answering.are_sent(_SOCKET_S if self._can_wait() else 0)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if not are_sent:
            raise NetworkError(NOT_TAKEN)


class HttpChannel:
    """The new device's pairing channel, over an HTTP link."""

    def __init__(self, link: str, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._link, self._transport = link, transport

    async def ask(self, message: dict[str, object]) -> dict[str, object]:
        """See PairingChannel.

        The request may take as long as an entire pairing, since a person has to type on the other device.
        """
        timeout = httpx2.Timeout(LIFE_S, connect=10.0)
        try:
            async with (
                asyncio.timeout(LIFE_S),
                httpx2.AsyncClient(timeout=timeout, transport=self._transport) as http,
                http.stream("POST", self._link, content=msgspec.json.encode(message)) as answer,
            ):
                body = await whole_body(answer, MAX_MESSAGE_BYTES)
            return msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            raise NetworkError("the other device's response is not that of a pairing") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TimeoutError) as error:
            raise NetworkError(failed_connection("the other device does not answer", error)) from error


class _Answering:
    """Counts the answers that are being made or sent."""

    def __init__(self) -> None:
        self._count, self._has_failed, self._changed = 0, False, threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count an answer until the block ends."""
        self._add(1)
        try:
            yield
        except OSError:  # the vault's loop makes none in time, but may yet
            self._has_failed = True
            raise
        finally:
            self._add(-1)

    @contextmanager
    def sending(self, answer: bytes) -> Iterator[None]:
        """Note whether an answer could not be sent, unless it is a refusal."""
        try:
            yield
        except OSError:  # the device is gone
            self._has_failed |= answer != REFUSED

    def are_sent(self, within_s: float) -> bool:
        """Wait until all are sent, and return whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count == 0, within_s) and not self._has_failed

    def _add(self, change: int) -> None:
        with self._changed:
            self._count += change
            self._changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    answer: Callable[[bytes], bytes]
    answering: _Answering
    secret_path: str
    timeout = _SOCKET_S
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Respond to one message. Requests for any other path get a plain 404."""
        length = self.headers.get("Content-Length", "")
        known = hmac.compare_digest(self.path.encode(), self.secret_path.encode())
        if not known or not _LENGTH.fullmatch(length) or int(length) > _MAX_REQUEST_BYTES:
            self._reply(404, b'{"error":"not_found"}')
            return
        body = self.rfile.read(int(length))
        with self.answering.one():
            answer = type(self).answer(body)
            with self.answering.sending(answer):
                self._check_connection()
                self._reply(200, answer)

    def _check_connection(self) -> None:
        """Raise BrokenPipeError if the device has gone while the person was asked."""
        self.connection.settimeout(0)
        try:
            is_gone = self.connection.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            is_gone = False
        self.connection.settimeout(_SOCKET_S)
        if is_gone:
            raise BrokenPipeError

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing, because the path is secret."""


def local_address() -> str:
    """Return this machine's address on the local network, or the loopback address if it has none. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737): only the route to it is looked up
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
