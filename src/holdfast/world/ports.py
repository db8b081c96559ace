"""The options for the local world's ports, and a check that the ports are free."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from holdfast.world.anvil import HOST
from holdfast.world.errors import WorldError

if TYPE_CHECKING:
    from collections.abc import Mapping


def require_ports(asked: Mapping[str, int]) -> None:
    """Raise WorldError unless the ports in `asked`, whose keys are options, are free and distinct. 0: any free port."""
    chosen: dict[int, str] = {}
    for option, port in asked.items():
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
