"""A batch of requests of one kind: sent as one statement or, if the server refuses that, one request at a time."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import asyncpg

from holdfast.service.store.administration import KeyRevoked
from holdfast.service.store.port import Overtaken, StoreUnavailable
from holdfast.service.store.postgresql.connection import NotSent
from holdfast.service.store.postgresql.servers import database_words
from holdfast.service.telemetry import tracing
from holdfast.wire.request_ids import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from holdfast.service.store.postgresql.connection import StoreConnection

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Row: TypeAlias = tuple[Any, ...]
AnyKind: TypeAlias = "Kind[Any, Any]"
MAX_BATCH = 256
LOST_RACE = "HF001"
_OVERTAKEN = "HF002"
_KEY_REVOKED = "HF003"
# After a deadlock. Requests lock rows in one order; the jobs that remove many expired rows do not.
PAUSES_S = (0.05, 0.2)


class LostRace(Exception):
    """Another transaction interfered, so nothing was written. The same request may be sent again."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[Argument, Result]):
    """One kind of request.

    Attributes:
        statement: the SQL statement, whose parameters are the arrays from `encode`.
        encode: returns the arrays for a batch.
        decode: returns a batch's results from the arguments and the returned rows; an exception among them is raised to
            its request.
        most: maximum number of requests in a batch.
        repeatable: whether a second call has no further effect, so that the request is sent once more
            if the response was lost.
        on_citus: the statement for Citus, if it needs another one.
    """

    name: str
    statement: str
    encode: Callable[[Sequence[Argument]], Sequence[Any]]
    decode: Callable[[Sequence[Argument], list[asyncpg.Record]], Sequence[Result | Exception]]
    most: int = MAX_BATCH
    repeatable: bool = False
    on_citus: str = ""

    def for_engine(self, *, is_citus: bool) -> str:
        """Return the statement for a database with or without Citus."""
        return (is_citus and self.on_citus) or self.statement


def rows_of(
    name: str, statement: str, make: Callable[..., Result], *, repeatable: bool = True, on_citus: str = ""
) -> Kind[Sequence[object], list[Result]]:
    """Return a kind of request that is never batched; its result is what `make` returns for each row."""
    return Kind(name, statement, _only, lambda _, rows: [[make(*row) for row in rows]], 1, repeatable, on_citus)


def value_of(
    name: str, statement: str, make: Callable[..., Result], *, repeatable: bool = False
) -> Kind[Sequence[object], Result]:
    """Return a kind of request that is never batched; its result is what `make` returns for the only value."""
    return Kind(name, statement, _only, lambda _, rows: [make(rows[0][0])], 1, repeatable)


def row(*values: object) -> Row:
    """Return a row as the database returned it."""
    return values


def _only(batch: Sequence[Sequence[object]]) -> Sequence[object]:
    return batch[0]


class Job:
    """One request: its argument, its keys, and the future that its result goes to."""

    __slots__ = ("argument", "future", "keys", "request_id", "since", "trace")

    def __init__(self, argument: object, keys: Sequence[Hashable], loop: asyncio.AbstractEventLoop) -> None:
        self.argument = argument
        self.keys = keys
        self.future: asyncio.Future[Any] = loop.create_future()
        self.since = loop.time()
        self.request_id = REQUEST_ID.get()
        self.trace = tracing.present()


async def send(connection: StoreConnection, kind: AnyKind, batch: list[Job]) -> None:
    """Send a batch; if the server refuses the batch, send each of its requests separately."""
    try:
        rows = await _fetch(connection, kind, [job.argument for job in batch])
    except StoreUnavailable as error:
        fail(batch, error)
    except Exception as error:  # noqa: BLE001 - it goes to the request that brought it
        if len(batch) == 1:
            fail(batch, _named(error))
        else:
            await _send_singly(connection, kind, batch)
    else:
        _settle(batch, kind.decode([job.argument for job in batch], rows))


async def _send_singly(connection: StoreConnection, kind: AnyKind, batch: list[Job]) -> None:
    for index, job in enumerate(batch):
        await send(connection, kind, [job])
        if not job.future.cancelled() and isinstance(job.future.exception(), NotSent):
            fail(batch[index + 1 :], NotSent("the database was lost"))
            return


def _settle(batch: list[Job], results: Sequence[Any]) -> None:
    for job, result in zip(batch, results, strict=True):
        if job.future.done():  # its request was cancelled
            continue
        if isinstance(result, Exception):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)


async def _fetch(connection: StoreConnection, kind: AnyKind, arguments: list[Any]) -> list[asyncpg.Record]:
    """Return the rows for a batch. After a deadlock the batch is sent again, because nothing of it was stored."""
    values = kind.encode(arguments)
    for pause_s in PAUSES_S:
        try:
            return await _fetch_values(connection, kind, values)
        except asyncpg.DeadlockDetectedError:
            await asyncio.sleep(random.uniform(0, pause_s))  # noqa: S311 - so that not all who met come again at once
    return await _fetch_values(connection, kind, values)


async def _fetch_values(connection: StoreConnection, kind: AnyKind, values: Sequence[Any]) -> list[asyncpg.Record]:
    statement = kind.for_engine(is_citus=connection.is_citus)
    try:
        return await connection.fetch(statement, values)
    except NotSent:
        raise
    except StoreUnavailable:
        if not kind.repeatable:
            raise
        return await connection.fetch(statement, values)


def _named(error: Exception) -> Exception:
    """Return the Store port's exception for an error from the server."""
    if isinstance(error, asyncpg.PostgresError):
        if error.sqlstate == LOST_RACE:
            return LostRace()
        if error.sqlstate == _OVERTAKEN:
            return Overtaken()
        if error.sqlstate == _KEY_REVOKED:
            return KeyRevoked()
        if not isinstance(error, asyncpg.DataError):  # time limits, full disk, missing privileges: nothing was stored
            return StoreUnavailable(database_words(error))
    return error


def fail(batch: Sequence[Job], error: Exception) -> None:
    """Raise this exception in every request of the batch that has no result yet."""
    for job in batch:
        if not job.future.done():
            job.future.set_exception(error if len(batch) == 1 else type(error)(*error.args))
