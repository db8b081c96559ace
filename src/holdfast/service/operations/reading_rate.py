"""Counts what each address reads, in memory: a row in the database for every read would cost more than the read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.rules.quotas import Counted, of_address
from holdfast.rules.reading_rate import admitted_until, wait_s
from holdfast.wire.failures import TOO_MANY_REQUESTS, SnapshotRefused

if TYPE_CHECKING:
    from holdfast.service.clock import Clock

PERIOD_S = 60
_MAX_SUBJECTS = 100_000


@dataclass(slots=True)
class ReadingRate:
    """The reads of this process. A check and its count have no await between them, so no two requests share a place.

    Attributes:
        per_minute: requests that an address may send at once, and again in every minute.
    """

    per_minute: int
    clock: Clock
    _due: dict[str, float] = field(default_factory=dict)

    def count(self, address: str) -> None:
        """Count a read of an address, for IPv6 also on the /48 around it. Raises SnapshotRefused(TOO_MANY_REQUESTS)."""
        now, after = self.clock(), {}
        for quota in of_address(Counted.READS, address, self.per_minute, PERIOD_S):
            due = self._due.get(quota.subject, 0.0)
            then = admitted_until(due, now, quota.limit, PERIOD_S)
            if then is None:
                raise SnapshotRefused(TOO_MANY_REQUESTS, retry_after_s=wait_s(due, now, quota.limit, PERIOD_S))
            after[quota.subject] = then
        if len(self._due) >= _MAX_SUBJECTS:
            self._forget(now)
        self._due.update(after)

    def _forget(self, now: float) -> None:
        """Drop the addresses that have their whole limit; if none does, all: memory stays bounded."""
        self._due = {subject: due for subject, due in self._due.items() if due > now}
        if len(self._due) >= _MAX_SUBJECTS:
            self._due.clear()
