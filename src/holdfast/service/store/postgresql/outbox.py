"""Events that wait for their delivery, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.events import POSTPONED_S
from holdfast.rules.shards import shard_of
from holdfast.service.store.outbox import Event
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

    from holdfast.service.store.postgresql.batcher import Batcher

_Settled = tuple["Sequence[Event]", "Sequence[tuple[Event, float]]"]


def _events(_batch: Sequence[Any], rows: list[Record]) -> list[list[Event]]:
    return [[Event(*row) for row in rows]]


_COLUMNS = ", ".join(name if name != "id" else "replace(id::text, '-', '')" for name in Event.__struct_fields__)
_OF_RECEIVER = "SELECT * FROM holdfast.outbox WHERE receiver = $1 AND"
_FIRST = "ORDER BY due_at, at, id LIMIT $3"
DUE = Kind(
    "due_events",
    f"SELECT {_COLUMNS} FROM (({_OF_RECEIVER} due_at <= $2 {_FIRST})"  # noqa: S608 - our own names
    f" UNION ALL ({_OF_RECEIVER} due_at > $2 + {POSTPONED_S} {_FIRST})) AS events {_FIRST}",
    lambda batch: batch[0],
    _events,
    1,
    repeatable=True,
)


def _settled(batch: Sequence[_Settled]) -> list[Any]:
    done, again = batch[0]
    return [
        *([shard_of(event.channel, event.key) for event in done], [event.id for event in done]),
        *([shard_of(event.channel, event.key) for event, _ in again], [event.id for event, _ in again]),
        [due_at for _, due_at in again],
    ]


SETTLE = Kind("settle_events", call("settle_events_v1", 5), _settled, lambda _batch, _rows: [None], 1)


class PostgresqlOutbox:
    """Implements Outbox."""

    def __init__(self, reads: Batcher, writes: Batcher) -> None:
        self._reads = reads
        self._writes = writes

    async def due(self, receiver: str, now: float, limit: int) -> list[Event]:
        """See Outbox."""
        found: list[Event] = await self._reads.ask(DUE, (receiver, now, limit))
        return found

    async def settle(self, done: Sequence[Event], again: Sequence[tuple[Event, float]]) -> None:
        """See Outbox."""
        await self._writes.ask(SETTLE, (done, again))
