"""Counts each address's reads in memory: a database row for every read would cost more than the read."""

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
    """This process's reads. No await separates a check from its count, so parallel requests cannot exceed the limit.

    Attributes:
        per_minute: requests that an address may send at once, and again in every minute.
    """

    per_minute: int
    clock: Clock
    _due: dict[str, float] = field(default_factory=dict)

    def count(self, address: str) -> None:
        """Count a read by an address; for IPv6 also against its /48. Raises SnapshotRefused(TOO_MANY_REQUESTS)."""
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
        """Forget the addresses that have their full allowance, or all if none has, so that memory stays bounded."""
        self._due = {subject: due for subject, due in self._due.items() if due > now}
        if len(self._due) >= _MAX_SUBJECTS:
            self._due.clear()
