"""Which of a process's connections are closed: clients that do not take their responses, and surplus ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.limits import TAKEN_BYTES_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection at one moment.

    Attributes:
        number: distinguishes it from all other connections of the process.
        address: the client's address or network, to which limits apply; None for the operator's proxies.
        waiting: bytes sent to the client that it has not taken yet.
        taken: bytes that the client has taken since the connection began.
        quiet_s: seconds since the client last sent something.
        idle_since: when its last request ended, or it began; None while a request is in progress or if the server
            itself ends idle connections.
    """

    number: int
    address: str | None
    waiting: int
    taken: int
    quiet_s: float
    idle_since: float | None = None


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How long and how many.

    Attributes:
        send_timeout_s: seconds within which a client must take TAKEN_BYTES_PER_S, or everything if less waits.
        idle_timeout_s: seconds without a request.
        per_address: connections that one address may have; 0 for any number.
    """

    send_timeout_s: float
    idle_timeout_s: float
    per_address: int


@dataclass(slots=True)
class Watch:
    """Judges the connections of a process, which it must see again every second or so."""

    limits: ConnectionLimits
    _begun: dict[int, tuple[float, int, int]] = field(default_factory=dict)  # when, taken then, to be taken

    def to_close(self, now: float, connections: Sequence[Connection]) -> set[int]:
        """Return the numbers of the connections to close at this moment."""
        known, self._begun = self._begun, {}
        ended = {it.number for it in connections if self._is_stalled(now, it, known.get(it.number))}
        ended |= {it.number for it in connections if self._is_idle(now, it)}
        return ended | self._surplus(it for it in connections if it.number not in ended)

    def _is_stalled(self, now: float, seen: Connection, begun: tuple[float, int, int] | None) -> bool:
        if not seen.waiting:
            return False
        if begun is None or seen.taken - begun[1] >= begun[2]:
            wanted = min(seen.waiting, int(TAKEN_BYTES_PER_S * self.limits.send_timeout_s))
            begun = (now, seen.taken, wanted)
        self._begun[seen.number] = begun
        return now - begun[0] >= self.limits.send_timeout_s

    def _is_idle(self, now: float, seen: Connection) -> bool:
        return seen.idle_since is not None and not seen.waiting and now - seen.idle_since >= self.limits.idle_timeout_s

    def _surplus(self, connections: Iterable[Connection]) -> set[int]:
        """Return what each address has beyond its share, the longest quiet first."""
        if not self.limits.per_address:
            return set()
        groups: defaultdict[str, list[Connection]] = defaultdict(list)
        for it in connections:
            if it.address is not None:
                groups[it.address].append(it)
        surplus: set[int] = set()
        for group in groups.values():
            if len(group) > self.limits.per_address:
                group.sort(key=lambda it: it.quiet_s)
                surplus.update(it.number for it in group[self.limits.per_address :])
        return surplus
