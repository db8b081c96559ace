"""The local world's addresses: the options for its ports, and addresses that no web page reaches."""

from __future__ import annotations

import secrets
import socket
import sys
from typing import TYPE_CHECKING

from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = "127.0.0.1"
# Ports to which browsers connect neither by HTTP nor by WebSocket (Fetch, section "Port blocking").
BLOCKED_IN_BROWSERS = (1719, 1720, 1723, 3659, 4045, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080)


def require_ports(ports: Mapping[str, int]) -> None:
    """Raise WorldError unless the ports in `ports`, whose keys are options, are free and distinct. 0: any free port."""
    chosen: dict[int, str] = {}
    for option, port in ports.items():
        if not port:
            continue
        if port in chosen:
            raise WorldError(f"{chosen[port]} and {option} are both {port}: choose two ports, or 0 for free ones")
        chosen[port] = option
        _require_free(option, port)


def _require_free(option: str, port: int) -> None:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except PermissionError:
            raise WorldError(f"port {port} needs rights that this user lacks: choose another with {option}") from None
        except OSError:
            raise WorldError(
                f"port {port} is taken: stop what listens there, or choose another with {option} ({option} 0 picks one)"
            ) from None


def out_of_browsers_reach() -> tuple[str, int]:
    """Return a loopback host and a free port to which no browser connects. Raises WorldError if all are taken."""
    # Linux has all of 127.0.0.0/8, so that worlds which start at the same time do not choose the same address.
    parts = ("127", *(str(1 + secrets.randbelow(254)) for _ in range(3)))
    host = ".".join(parts) if sys.platform == "linux" else HOST
    for port in BLOCKED_IN_BROWSERS:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, port))
            except OSError:
                continue
            return host, port
    raise WorldError("every port that browsers do not reach is taken: stop another local world")
