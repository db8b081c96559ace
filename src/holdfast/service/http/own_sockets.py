"""The TCP connections that this process has accepted, as the kernel sees them (Linux).

The HTTP servers neither report their connections nor limit how long a client may leave a response unread. Every socket
of the process is in /proc/self/fd, whichever library opened it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = "/proc/self/fd"
_TCP_INFO = getattr(socket, "TCP_INFO", 11)
# struct tcp_info of linux/tcp.h: state, unacked, last_data_recv (ms), bytes_acked, notsent_bytes.
_INFO = struct.Struct("=B23xI24xI64xQ16xI")
_ESTABLISHED, _CLOSE_WAIT, _LISTEN = 1, 8, 10
_TIOCOUTQ = 0x5411
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: the kernel forgets unsent bytes when the socket is closed
_IN_A_ROW = 64  # sockets; then other threads get a turn


class OwnSocket(NamedTuple):
    """An accepted connection.

    Attributes:
        number: the socket's inode.
        host: the other end's address.
        peer: the other end, as `address:port`, without an interface.
        waiting: bytes written by this process that the other end has not acknowledged.
        taken: bytes that the other end has acknowledged.
        quiet_s: seconds since the other end sent data.
    """

    descriptor: int
    number: int
    host: str
    peer: str
    waiting: int
    taken: int
    quiet_s: float


def can_watch() -> bool:
    """Return whether this system shows a process its sockets."""
    return sys.platform == "linux" and Path(_FOLDER).is_dir()


def accepted() -> list[OwnSocket]:
    """Return the connections that came in at the ports on which this process listens."""
    ports, found = set(), []
    for count, descriptor in enumerate(_descriptors()):
        if count % _IN_A_ROW == 0:
            time.sleep(0)
        with suppress(OSError, struct.error):  # no TCP socket, or closed in the meantime
            state, port, one = _look(descriptor)
            if state == _LISTEN:
                ports.add(port)
            elif one is not None:
                found.append((port, one))
    return [one for port, one in found if port in ports]


def end(one: OwnSocket) -> None:
    """Break a connection off. The server notices it and forgets the connection."""
    with suppress(OSError):
        # A copy, because the number may belong to another socket by now.
        copy = socket.socket(fileno=os.dup(one.descriptor))
        with copy:
            if os.fstat(copy.fileno()).st_ino == one.number:
                copy.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                copy.shutdown(socket.SHUT_RDWR)


def _descriptors() -> Iterator[int]:
    return (int(name) for name in os.listdir(_FOLDER))  # noqa: PTH208 - paths cost as much as all the rest


def _look(descriptor: int) -> tuple[int, int, OwnSocket | None]:
    """Return a TCP socket's state and own port, and the connection if it is one. Raises OSError or struct.error."""
    borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)
    try:
        state, unacked, quiet_ms, taken, unsent = _INFO.unpack(
            borrowed.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _INFO.size)
        )
        port = borrowed.getsockname()[1]
        if state not in {_ESTABLISHED, _CLOSE_WAIT}:
            return state, port, None
        host, number = borrowed.getpeername()[:2]
        waiting = _waiting(descriptor) if unacked or unsent else 0
        inode = os.fstat(descriptor).st_ino
        peer = without_scope(f"{host}:{number}")
        return state, port, OwnSocket(descriptor, inode, host, peer, waiting, taken, quiet_ms / 1000)
    finally:
        borrowed.detach()


def without_scope(peer: str) -> str:
    """Return `address:port` without the network interface of a link-local address.

    The kernel gives its number, Python its name, and some servers neither.
    """
    address, percent, rest = peer.partition("%")
    return f"{address}:{rest.rpartition(':')[2]}" if percent else peer


def _waiting(descriptor: int) -> int:
    return int.from_bytes(fcntl.ioctl(descriptor, _TIOCOUTQ, bytes(4)), sys.byteorder)
