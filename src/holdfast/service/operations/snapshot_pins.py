"""Pins of snapshots: the operations of the Pinning Service API."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.snapshot_quotas import SnapshotLimits, Usage, admit_pin
from holdfast.service.store.snapshot_index import NewPin, TokenUse
from holdfast.wire.failures import PIN_NOT_FOUND, SnapshotRefused

if TYPE_CHECKING:
    from holdfast.rules.pins import Pin, PinQuery, PinRequest
    from holdfast.rules.snapshot_tokens import Bearer
    from holdfast.service.clock import Clock, Entropy
    from holdfast.service.store.snapshot_index import SnapshotIndex


@dataclass(frozen=True, slots=True)
class SnapshotPins:
    """A DID's pins. Another DID's pin is treated as nonexistent."""

    index: SnapshotIndex
    limits: SnapshotLimits
    clock: Clock
    entropy: Entropy

    async def listed(self, bearer: Bearer, query: PinQuery) -> tuple[int, list[Pin]]:
        """Return how many pins match the query, and the newest of them."""
        found = [pin for pin in await self.index.pins(bearer.did) if query.takes(pin)]
        return len(found), found[: query.limit]

    async def one(self, bearer: Bearer, request_id: str) -> Pin:
        """Return a pin. Raises SnapshotRefused(PIN_NOT_FOUND)."""
        found = await self.index.pin(bearer.did, request_id)
        if found is None:
            raise SnapshotRefused(PIN_NOT_FOUND)
        return found

    async def add(self, bearer: Bearer, request: PinRequest, replaces: str | None = None) -> Pin:
        """Add a pin, or replace one if its ID is given. A repeated request with the same token returns the same pin.

        Raises SnapshotRefused.
        """
        pin = NewPin(
            request_id=self.entropy(16).hex(), did=bearer.did, request=request, now=self.clock(), replaces=replaces
        )
        use = TokenUse(
            token=bearer.digest,
            kind="pin" if replaces is None else "replace",
            what=_fingerprint(request, replaces),
            until=bearer.expires_at,
        )
        made = await self.index.add_pin(pin, use, self._admit)
        if made is None:
            raise SnapshotRefused(PIN_NOT_FOUND)
        return made

    async def remove(self, bearer: Bearer, request_id: str) -> None:
        """Remove a pin. Raises SnapshotRefused(PIN_NOT_FOUND)."""
        if not await self.index.remove_pin(bearer.did, request_id, self.clock()):
            raise SnapshotRefused(PIN_NOT_FOUND)

    def _admit(self, usage: Usage) -> None:
        admit_pin(usage, self.limits)


def _fingerprint(request: PinRequest, replaces: str | None) -> str:
    plain = [replaces, request.cid, request.name, list(request.origins), sorted(request.meta.items())]
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest()
