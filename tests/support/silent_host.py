"""A host that neither answers nor refuses, as one that hangs (its kernel still accepts) or that is cut off (it does not)."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

_ENOUGH_TO_FILL = 4


@contextlib.contextmanager
def hanging_host() -> Iterator[int]:
    """Yield a loopback port whose connections are accepted by the kernel and never answered."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@contextlib.contextmanager
def unreachable_host() -> Iterator[int]:
    """Yield a loopback port that drops every attempt to connect, because its queue of connections is full."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(_ENOUGH_TO_FILL):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]
