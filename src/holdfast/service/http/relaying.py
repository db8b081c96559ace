"""Carries requests from the admin port to a worker, which has the store.

The admin port belongs to the process that starts the workers. It must not open a database, because SQLite's files must
not be open while a process forks. Each worker listens on a Unix socket in the folder that a node's processes share; a
connection carries one request and one response, each as four bytes of length and MessagePack.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from holdfast.service.http.messages import Headers, Response, is_longer
from holdfast.wire.errors import BODY_TOO_LARGE, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

_SUFFIX = ".admin"
_LENGTH_BYTES = 4
_ADDRESS_BYTES = 100  # macOS has four less than Linux, 104
_CONNECT_S, _RESPONSE_S = 5.0, 60.0
_encode = msgspec.msgpack.Encoder().encode


class RelayedRequest(msgspec.Struct):
    """Implements Request for one that has been read completely. Header names are in lower case."""

    method: str
    path: str
    query: str
    peer: str
    headers: Headers
    content: bytes = b""

    @property
    def version(self) -> str | None:
        """See Request."""
        return "1.1"

    @property
    def raw_path(self) -> str:
        """See Request."""
        return self.path

    def header(self, name: str) -> str | None:
        """See Request."""
        return next((value for given, value in self.headers if given == name), None)

    def header_values(self, name: str) -> Sequence[str]:
        """See Request."""
        return [value for given, value in self.headers if given == name]

    def all_headers(self) -> Headers:
        """See Request."""
        return self.headers

    async def body(self, limit: int) -> bytes:
        """See Request."""
        if is_longer(str(len(self.content)), limit):
            raise Refused(BODY_TOO_LARGE)
        return self.content

    async def pieces(self) -> AsyncIterator[bytes]:
        """See Request."""
        yield self.content


class RelayedResponse(msgspec.Struct, frozen=True):
    """A whole response."""

    status: int
    headers: Headers
    body: bytes


class NoWorker(Exception):
    """No worker responds."""


class RelayServer:
    """A worker's end."""

    def __init__(self, folder: Path, respond: Callable[[RelayedRequest], Awaitable[Response]]) -> None:
        self._file = folder / f"{os.getpid()}-{os.urandom(4).hex()}{_SUFFIX}"
        self._respond = respond
        self._server: asyncio.AbstractServer | None = None

    async def start(self) -> None:
        """Begin to listen. Raises OSError if the folder does not permit it."""
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with _address(self._file) as address:
                listening.bind(address)
            self._server = await asyncio.start_unix_server(self._serve, sock=listening)
        except OSError:
            listening.close()
            raise

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._file.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, msgspec.MsgspecError):
            size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
            request = msgspec.msgpack.decode(await reader.readexactly(size), type=RelayedRequest)
            response = await self._respond(request)
            writer.write(_frame(RelayedResponse(response.status, list(response.headers), bytes(response.body))))
            await writer.drain()
        writer.close()


def relay(folder: Path, request: RelayedRequest) -> RelayedResponse:
    """Return a worker's response. Raises NoWorker."""
    sockets = list(folder.glob(f"*{_SUFFIX}"))
    random.shuffle(sockets)
    for file in sockets:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_CONNECT_S)
            try:
                with _address(file) as address:
                    connection.connect(address)
            except OSError:  # its worker has ended
                continue
            return _exchanged(connection, request)
    raise NoWorker


@contextmanager
def _address(file: Path) -> Iterator[str]:
    """Yield a socket's address: its path or, if that is too long for an address, one through its folder (Linux)."""
    if len(os.fsencode(file)) < _ADDRESS_BYTES or sys.platform != "linux":
        yield str(file)
        return
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{file.name}"
    finally:
        os.close(folder)


def _exchanged(connection: socket.socket, request: RelayedRequest) -> RelayedResponse:
    connection.settimeout(_RESPONSE_S)
    try:
        connection.sendall(_frame(request))
        with connection.makefile("rb") as stream:
            size = int.from_bytes(stream.read(_LENGTH_BYTES))
            return msgspec.msgpack.decode(stream.read(size), type=RelayedResponse)
    except (OSError, msgspec.MsgspecError) as error:  # the worker ended meanwhile
        raise NoWorker from error


def _frame(message: RelayedRequest | RelayedResponse) -> bytes:
    body = _encode(message)
    return len(body).to_bytes(_LENGTH_BYTES) + body
