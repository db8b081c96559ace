"""Options for all connections to PostgreSQL, so that a silent network is detected."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncpg

_IDLE_S, _INTERVAL_S, _PROBES = 5, 2, 3  # keep-alive probes; a peer that is gone is noticed after 11 s
_USER_TIMEOUT_MS = 5000

# Server settings for a connection. A pooler in transaction mode forwards none of these settings.
CONNECTION_SETTINGS = {
    "application_name": "holdfast",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "3",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "10s",
    "jit": "off",  # compiling takes longer than any of the statements
}


def keep_alive(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Let the operating system end a connection whose network goes silent; the driver alone would wait forever."""
    opened: Any = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]  # noqa: SLF001 - the driver offers no other way to its socket
    if opened is None or opened.family == socket.AF_UNIX:
        return
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _IDLE_S),
        ("TCP_KEEPALIVE", _IDLE_S),  # its name on macOS
        ("TCP_KEEPINTVL", _INTERVAL_S),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", _USER_TIMEOUT_MS),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            opened.setsockopt(socket.IPPROTO_TCP, option, value)
