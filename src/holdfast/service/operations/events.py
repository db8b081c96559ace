"""Delivers events from the outbox to one receiver: each at least once, retried for three days."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from holdfast.rules.events import GIVE_UP_S, is_given_up, next_try, subscription_of, type_of
from holdfast.rules.limits import HOUR_S
from holdfast.service.delivery.errors import DeliveryError
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.service.clock import Clock
    from holdfast.service.store.outbox import Event
    from holdfast.service.store.port import Store

_log = logging.getLogger("holdfast.events")
AT_ONCE = 16
DELIVER_EVERY_S = 5.0
_RUN_S = 30.0  # a run ends before the lease does, under which no other process delivers
_ALL = "all"  # every process renews the same subscription


class EventReceiver(Protocol):
    """What takes events."""

    async def send(self, kind: str, data: Mapping[str, object], message_id: str, at: float) -> None:
        """Send one event. Raises DeliveryError unless the receiver has accepted it.

        Args:
            kind: the event's type.
            data: whom it is about.
            message_id: the same for every try.
            at: when it happened, in seconds since the epoch.
        """
        ...


@dataclass(slots=True)
class EventDelivery:
    """Delivers the events of one receiver, `name`. A receiver that hangs delays only its own events."""

    name: str
    receiver: EventReceiver
    store: Store
    clock: Clock
    _renewed_at: float = field(default=-HOUR_S)

    async def subscribe(self) -> None:
        """Let the store record this receiver's events from now on, for three days. Errors are logged."""
        try:
            await self._renew()
        except StoreUnavailable as error:
            _log.warning("events are not recorded yet: store unavailable", extra={"why": str(error)})

    async def run(self) -> None:
        """Deliver what is due, until nothing is left, an event cannot be delivered, or 30 seconds have passed."""
        if self.clock() - self._renewed_at >= HOUR_S:
            await self._renew()
        ends = time.monotonic() + _RUN_S
        while time.monotonic() < ends:
            due = await self.store.outbox.due(self.name, self.clock(), AT_ONCE)
            again = await self._deliver(due)
            if again or len(due) < AT_ONCE:
                return

    async def _renew(self) -> None:
        now = self.clock()
        await self.store.take_lease(subscription_of(self.name), _ALL, now, GIVE_UP_S)
        self._renewed_at = now

    async def _deliver(self, due: Sequence[Event]) -> list[tuple[Event, float]]:
        """Deliver these events in parallel; return those to send again, with the time of the next try."""
        accepted = await asyncio.gather(*map(self._is_accepted, due))
        now = self.clock()
        missed = [event for event, done in zip(due, accepted, strict=True) if not done]
        again = [(event, next_try(now, event.tries)) for event in missed if not is_given_up(event.at, now)]
        if len(missed) > len(again):
            _log.error("events were given up", extra={"count": len(missed) - len(again)})
        if due:
            retried = {event.id for event, _ in again}
            await self.store.outbox.settle([event for event in due if event.id not in retried], again)
        self._count(len(due) - len(missed), len(again), len(missed) - len(again))
        return again

    async def _is_accepted(self, event: Event) -> bool:
        try:
            data = {"channel": event.channel, "identifier": event.key, "did": event.did}
            await self.receiver.send(type_of(event.action), data, f"evt_{event.id}", event.at)
        except DeliveryError as error:
            _log.warning("an event was not delivered", extra={"kind": self.name, "why": str(error)})
            return False
        return True

    def _count(self, delivered: int, failed: int, given_up: int) -> None:
        for outcome, count in (("delivered", delivered), ("failed", failed), ("given_up", given_up)):
            if count:
                metrics.EVENTS.add(self.name, outcome, by=count)
