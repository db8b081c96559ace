"""The Outbox port: events that wait for their delivery, written in the transaction of what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event for one receiver.

    Attributes:
        id: unique, also after a backup was restored.
        at: when it happened, in seconds since the epoch.
        action: as in the audit.
        key: canonical key of the identifier.
        tries: how often it could not be delivered.
    """

    id: str
    at: float
    action: str
    channel: str
    key: str
    did: str | None
    tries: int


class Outbox(Protocol):
    """Events of each receiver that has a subscription: the lease that `rules.events.subscription_of` names.

    Every method raises StoreUnavailable if the store cannot be reached.
    """

    async def due(self, receiver: str, now: float, limit: int) -> list[Event]:
        """Return events to send, most overdue first."""
        ...

    async def settle(self, done: Sequence[Event], again: Sequence[tuple[Event, float]]) -> None:
        """Remove events that are done, and count a try of the others, with the time at which each is due again."""
        ...
