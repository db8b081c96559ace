"""Reads the record of an IPNS name from several servers at once, and says which of them did not answer."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from holdfast.client.http.calls import Call
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.storage import snapshots
from holdfast.content import records
from holdfast.content.errors import ContentError
from holdfast.content.names import public_key_of
from holdfast.content.records import Change, Record, compare_records
from holdfast.wire.client_errors import NetworkError, ServiceError, StorageError
from holdfast.wire.retries import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.client.http.transport import HttpTransport

# A server that does not serve one of the two paths refuses it with one of these statuses.
_NOT_SERVED = frozenset({400, 404, 405, 406, 410, 415, 501})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long servers are waited for, in seconds.

    Attributes:
        after_first_s: for the others, once one of them has answered.
        main_s: for the first server, the one to which snapshots are uploaded, though others have answered.
        longest_s: for all.
    """

    after_first_s: float = SNAPSHOTS.after_first_s
    main_s: float = SNAPSHOTS.main_s
    longest_s: float = SNAPSHOTS.all_s


class Failed(NamedTuple):
    """A server that did not answer, and why."""

    server: HttpTransport
    error: ServiceError


class ServersFailed(NetworkError):
    """None of several servers returned what was asked for. The message says each one's reason."""

    def __init__(self, what: str, failed: Sequence[Failed]) -> None:
        super().__init__(f"{what}: " + "; ".join(f"{server.host}: {reason_of(error)}" for server, error in failed))
        self.errors = tuple(error for _, error in failed)


@dataclass(frozen=True, slots=True)
class NameAnswers:
    """What the servers answered about a name.

    Attributes:
        newest: the newest valid record, or the newest expired one if no other is known; None if no server has one.
        failed: the servers that did not answer.
        has_main: whether the first server answered.
        at_main: whether it has the newest record's snapshot.
    """

    newest: Record | None
    failed: tuple[Failed, ...]
    has_main: bool
    at_main: bool = False


def failure(what: str, failed: Sequence[Failed]) -> ServiceError:
    """Return the error of the only server, which names the host that sent wrong bytes, or ServersFailed for several."""
    if len(failed) > 1:
        return ServersFailed(what, failed)
    server, error = failed[0]
    if not isinstance(error.__cause__, ContentError):
        return error
    named = StorageError(f"{server.host}: {reason_of(error)}")
    named.__cause__ = error.__cause__
    return named


def reason_of(error: ServiceError) -> str:
    """Return an error's message without the prefix that its class adds."""
    return str(error).removeprefix("Network: ").removeprefix("Storage: ")


def record_call(name: str, *, routing: bool = False) -> Call[Record]:
    """Fetch and verify an IPNS record from a trustless gateway or, with `routing`, through HTTP Routing V1."""
    with snapshots.storage_errors():
        public_key = public_key_of(name)
    return Call(
        method="GET",
        path=f"/routing/v1/ipns/{name}" if routing else f"/ipns/{name}",
        query={} if routing else {"format": "ipns-record"},
        headers={"Accept": records.MEDIA_TYPE, "Cache-Control": "no-cache"},  # an old one would look rolled back
        read=lambda reply: _verified(public_key, reply.content),
        longest=records.MAX_RECORD_BYTES,
        redirects=3,
    )


async def ask_all(
    servers: Sequence[HttpTransport], name: str, patience: Patience, *, absent_is_enough: bool
) -> NameAnswers:
    """Ask all servers for a name's record. With `absent_is_enough`, the answer that none exists counts as an answer.

    Raises StorageError for an invalid name, ClientStateError for a closed client.
    """
    record_call(name)
    tasks = [asyncio.create_task(_record(server, name)) for server in servers]
    try:
        await _settled(tasks, patience, lambda task: _is_answer(task, absent_is_enough=absent_is_enough))
    finally:
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    failed = [Failed(server, error) for server, task in zip(servers, tasks, strict=True) if (error := _error(task))]
    found = [task.result() for task in tasks if not _error(task)]
    has_main = bool(tasks) and not _error(tasks[0])
    newest, main = newest_of(found, time.time()), found[0] if has_main else None
    at_main = newest is not None and main is not None and main.root_cid == newest.root_cid
    return NameAnswers(newest, tuple(failed), has_main, at_main)


def newest_of(found: Iterable[Record | None], now: float) -> Record | None:
    """Return the newest record that is valid at `now`, in seconds since 1970, or else the newest expired one."""
    records_found = [record for record in found if record is not None]
    valid = [record for record in records_found if not record.is_expired(now)]
    newest: Record | None = None
    for record in valid or records_found:
        if compare_records(newest, record) in {Change.NEWER, Change.RENEWED}:
            newest = record
    return newest


async def _settled(
    tasks: list[asyncio.Task[Record | None]],
    patience: Patience,
    is_answer: Callable[[asyncio.Task[Record | None]], bool],
) -> None:
    """Wait until every server has answered or been waited for long enough."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    until, waiting = begun + patience.longest_s, set(tasks)
    first: float | None = None
    while waiting and clock() < until:
        done, waiting = await asyncio.wait(waiting, timeout=until - clock(), return_when=asyncio.FIRST_COMPLETED)
        if first is None and any(is_answer(task) for task in done):
            first = clock()
        if first is not None:
            main = begun + patience.main_s if tasks[0] in waiting else begun
            until = min(begun + patience.longest_s, max(first + patience.after_first_s, main))


def _is_answer(task: asyncio.Task[Record | None], *, absent_is_enough: bool) -> bool:
    """Return whether a server has answered with a valid record or, if that is enough, that none exists."""
    if _error(task) is not None:
        return False
    record = task.result()
    return absent_is_enough if record is None else not record.is_expired(time.time())


def _error(task: asyncio.Task[Record | None]) -> ServiceError | None:
    """Return why a server did not answer. Raises any other exception than a server's."""
    if not task.done() or task.cancelled():
        return NetworkError("no answer in time")
    error = task.exception()
    if error is not None and not isinstance(error, (NetworkError, StorageError)):
        raise error
    return error


async def _record(server: HttpTransport, name: str) -> Record | None:
    """Return a record from one server, at `/ipns/` or else `/routing/v1/ipns/`: not every server serves both.

    Raises the first path's error, unless both paths say that there is no record.
    """
    try:
        return await server.send(record_call(name))
    except (NetworkError, StorageError) as error:
        first = error
    try:
        return await server.send(record_call(name, routing=True))
    except (NetworkError, StorageError) as error:
        if _is_absent(first) and (_is_absent(error) or _status(first) == 404):  # noqa: PLR2004
            return None
        raise first from first.__cause__  # which says what is wrong with its bytes


def _is_absent(error: ServiceError) -> bool:
    return _status(error) in _NOT_SERVED


def _status(error: ServiceError) -> int | None:
    return error.status if isinstance(error, RequestRefused) else None


def _verified(public_key: bytes, data: bytes) -> Record:
    with snapshots.storage_errors():
        return records.read_record(public_key, data)
