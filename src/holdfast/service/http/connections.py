"""Closes connections whose clients do not take their responses, that are idle, or that are too many for an address.

granian has a time limit for heads and for idle HTTP/1.1 connections, but none for writing, none for a connection whose
protocol it does not know yet, and no share per address (docs/decisions/0920-readers-that-take-nothing.md).
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.connections import Connection, ConnectionLimits, Watch
from holdfast.service.http import own_sockets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.service.http.client_address import ClientAddress
    from holdfast.service.http.own_sockets import OwnSocket

_log = logging.getLogger("holdfast.connections")
_LONGEST_TURN_S = 2.0
_TURNS_PER_TIMEOUT = 5


@dataclass(slots=True)
class Activity:
    """The requests of each connection: how many are in progress, and when the last one ended (time.monotonic)."""

    of: dict[str, tuple[int, float]] = field(default_factory=dict)

    @contextmanager
    def request(self, peer: str) -> Iterator[None]:
        """Note that the connection from this `address:port` has a request in progress."""
        peer = own_sockets.without_scope(peer)
        self.of[peer] = (self.of.get(peer, (0, 0.0))[0] + 1, 0.0)
        try:
            yield
        finally:
            self.of[peer] = (self.of.get(peer, (1, 0.0))[0] - 1, time.monotonic())


class ConnectionKeeper:
    """Watches this process's connections in a separate thread."""

    def __init__(self, limits: ConnectionLimits, addresses: ClientAddress, activity: Activity | None) -> None:
        """Judge idleness only with `activity`; without it the server itself must end idle connections."""
        self._watch = Watch(limits)
        self._addresses = addresses
        self._activity = activity
        self._first_seen: dict[int, float] = {}
        self._turn_s = min(_LONGEST_TURN_S, min(limits.send_timeout_s, limits.idle_timeout_s) / _TURNS_PER_TIMEOUT)

    def start(self) -> None:
        """Begin to watch, until the process ends."""
        if own_sockets.can_watch():
            threading.Thread(target=self._run, name="connections", daemon=True).start()
        else:
            _log.warning("connections are not watched on this system; put a proxy in front of the service")

    def turn(self) -> None:
        """Look at all connections once."""
        now, sockets = time.monotonic(), own_sockets.accepted()
        self._first_seen = {it.number: self._first_seen.get(it.number, now) for it in sockets}
        closing = self._watch.to_close(now, [self._judged(it) for it in sockets])
        for it in sockets:
            if it.number in closing:
                own_sockets.end(it)
        self._forget({it.peer for it in sockets})

    def _run(self) -> None:
        while True:
            time.sleep(self._turn_s)
            try:
                self.turn()
            except Exception:  # noqa: BLE001 - whatever it was, the next turn must come
                _log.exception("connections were not looked at")

    def _judged(self, it: OwnSocket) -> Connection:
        return Connection(
            it.number,
            self._addresses.subject_of_peer(it.host),
            it.waiting,
            it.taken,
            it.quiet_s,
            self._idle_since(it),
        )

    def _idle_since(self, it: OwnSocket) -> float | None:
        if self._activity is None:
            return None
        in_progress, ended = self._activity.of.get(it.peer, (0, 0.0))
        return None if in_progress else max(ended, self._first_seen[it.number])

    def _forget(self, peers: set[str]) -> None:
        """Forget the requests of connections that have ended."""
        if self._activity is None:
            return
        for peer, (in_progress, _) in list(self._activity.of.items()):
            if not in_progress and peer not in peers:
                self._activity.of.pop(peer, None)
