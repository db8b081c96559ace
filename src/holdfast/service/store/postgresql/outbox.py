"""Events that wait for their delivery, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.events import POSTPONED_S
from holdfast.rules.shards import shard_of
from holdfast.service.store.outbox import Event
from holdfast.service.store.postgresql.batches import row, rows_of
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.store.postgresql.batcher import Batcher

_COLUMNS = ", ".join(name if name != "id" else "replace(id::text, '-', '')" for name in Event.__struct_fields__)
_OF_RECEIVER = "SELECT * FROM holdfast.outbox WHERE receiver = $1 AND"
_FIRST = "ORDER BY due_at, at, id LIMIT $3"
DUE = rows_of(
    "due_events",
    f"SELECT {_COLUMNS} FROM (({_OF_RECEIVER} due_at <= $2 {_FIRST})"  # noqa: S608 - our own names
    f" UNION ALL ({_OF_RECEIVER} due_at > $2 + {POSTPONED_S} {_FIRST})) AS events {_FIRST}",
    Event,
)
SETTLE = rows_of("settle_events", call("settle_events_v1", 5), row, repeatable=False)


class PostgresqlOutbox:
    """Implements Outbox."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def due(self, receiver: str, now: float, limit: int) -> list[Event]:
        """See Outbox."""
        return await self._reads.ask(DUE, (receiver, now, limit))

    async def settle(self, done: Sequence[Event], again: Sequence[tuple[Event, float]]) -> None:
        """See Outbox."""
        later = [event for event, _ in again]
        await self._writes.ask(SETTLE, (*_keys(done), *_keys(later), [due_at for _, due_at in again]))


def _keys(events: Sequence[Event]) -> tuple[list[int], list[str]]:
    return [shard_of(event.channel, event.key) for event in events], [event.id for event in events]
