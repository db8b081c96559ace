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


@dataclass(slots=True)
class ReadingRate:
    """The requests that this process has counted.

    A check and its count have no await between them, so that parallel requests cannot exceed the limit.

    Attributes:
        per_minute: requests that an address may send at once, and the number that it regains each minute.
        most: addresses and networks that are remembered at the same time.
        forgotten_from: how many must be remembered before those with their full allowance are looked for.
    """

    per_minute: int
    clock: Clock
    most: int = 100_000
    forgotten_from: int = 1024
    _due: dict[str, float] = field(init=False, default_factory=dict)
    _room: int = field(init=False, default=0)

    @property
    def remembered(self) -> int:
        """How many addresses and networks are remembered."""
        return len(self._due)

    def count(self, address: str, times: int = 1) -> None:
        """Count a request by an address, and for IPv6 also by its /48, as many `times` as it costs more than others.

        Raises SnapshotRefused(TOO_MANY_REQUESTS).
        """
        now = self.clock()
        after = {subject: self._after(subject, limit, now, times) for subject, limit in self._limits(address)}
        if len(self._due) >= max(self._room, min(self.most, self.forgotten_from)):
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

    def _after(self, subject: str, limit: int, now: float, times: int) -> float:
        """Return when the address or network will have its full allowance again after one more request.

        Raises SnapshotRefused.
        """
        due = self._due.get(subject, 0.0)
        if due > now + PERIOD_S:  # the clock was set back
            due = self._due[subject] = now + PERIOD_S
        then = admitted_until(due, now, limit, PERIOD_S, times)
        if then is None:
            raise SnapshotRefused(TOO_MANY_REQUESTS, retry_after_s=wait_s(due, now, limit, PERIOD_S))
        return then

    def _forget(self, now: float) -> None:
        """Forget the addresses that have their full allowance; if too many are left, forget all, to bound memory.

        Addresses are next forgotten when their number has doubled, which costs at most two look-ups per request.
        """
        self._due = {subject: due for subject, due in self._due.items() if due > now}
        if len(self._due) >= self.most:
            self._due.clear()
        self._room = min(self.most, 2 * len(self._due))
