"""Limits how often each address may do something that costs little: read, or be refused.

The requests are counted in memory, because a database row for each would cost more than the request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.addresses import network_of
from holdfast.rules.limits import NETWORK_FACTOR
from holdfast.rules.reading_rate import admitted_until, wait_s
from holdfast.wire.failures import TOO_MANY_REQUESTS, SnapshotRefused

if TYPE_CHECKING:
    from holdfast.service.clock import Clock

PERIOD_S = 60
_MAX_SUBJECTS = 100_000
_FORGOTTEN_FROM = 1024  # subjects: fewer are not worth looking through


@dataclass(slots=True)
class ReadingRate:
    """The requests that this process has counted.

    A check and its count have no await between them, so that parallel requests cannot exceed the limit.

    Attributes:
        per_minute: requests that an address may send at once, and the number that it regains each minute.
    """

    per_minute: int
    clock: Clock
    _due: dict[str, float] = field(default_factory=dict)
    _room: int = field(default_factory=lambda: min(_MAX_SUBJECTS, _FORGOTTEN_FROM))

    def count(self, address: str) -> None:
        """Count a request by an address, and for IPv6 also by its /48. Raises SnapshotRefused(TOO_MANY_REQUESTS)."""
        now = self.clock()
        after = {subject: self._after(subject, limit, now) for subject, limit in self._limits(address)}
        if len(self._due) >= self._room:
            self._forget(now)
        self._due.update(after)

    def give_back(self, address: str) -> None:
        """Take back one request that `count` has counted."""
        for subject, limit in self._limits(address):
            if subject in self._due:
                self._due[subject] -= PERIOD_S / limit

    def _limits(self, address: str) -> list[tuple[str, int]]:
        network = network_of(address)
        own = [(address, self.per_minute)]
        return own if network is None else [*own, (network, NETWORK_FACTOR * self.per_minute)]

    def _after(self, subject: str, limit: int, now: float) -> float:
        """Return when the address or network will have its full allowance again after one more request.

        Raises SnapshotRefused.
        """
        due = self._due.get(subject, 0.0)
        if due > now + PERIOD_S:  # the clock was set back
            due = self._due[subject] = now + PERIOD_S
        then = admitted_until(due, now, limit, PERIOD_S)
        if then is None:
            raise SnapshotRefused(TOO_MANY_REQUESTS, retry_after_s=wait_s(due, now, limit, PERIOD_S))
        return then

    def _forget(self, now: float) -> None:
        """Forget the addresses that have their full allowance; if too many are left, forget all, to bound memory.

        Addresses are next forgotten when their number has doubled, which costs at most two look-ups per request.
        """
        self._due = {subject: due for subject, due in self._due.items() if due > now}
        if len(self._due) >= _MAX_SUBJECTS:
            self._due.clear()
        self._room = min(_MAX_SUBJECTS, max(_FORGOTTEN_FROM, 2 * len(self._due)))
