"""Opens connections to the primary among the servers of one database, however the other servers fail.

A server whose machine hangs or is cut off neither responds nor refuses. So every server is tried on its own, and no
server's silence delays the others by more than a fraction of a second.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
from asyncpg.exceptions import InternalClientError

from holdfast.wire.connection_errors import connection_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.store.postgresql.address import Address

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

STAGGER_S = 0.2  # between the first attempts at two servers
NEWER_WITHIN_S = 0.2  # how long the other servers may still show that one of them was promoted later
_RETRY_S = 0.05
_AT_LEAST_S = 0.1
_WORDS = {
    asyncpg.InterfaceError: "the connection cannot be used",
    InternalClientError: "the driver failed",
}
_CONDITIONS = {  # PostgreSQL 18, appendix A
    "25006": "the server is a standby",
    "28000": "the server does not admit this user",
    "28P01": "the password is wrong",
    "3D000": "the server has no such database",
    "42501": "this user lacks a privilege",
    "42883": "a function is missing: run holdfast migrate",
    "42P01": "a table is missing: run holdfast migrate",
    "53100": "the server's disk is full",
    "53200": "the server has no memory left",
    "53300": "the server has no connection left",
    "55P03": "a lock was not free in time",
    "57014": "the server ended a query that took too long",
    "57P01": "the server is stopping",
    "57P02": "the server is stopping",
    "57P03": "the server is starting or stopping",
}
_FAULTS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, InternalClientError, TimeoutError)
# pg_control_checkpoint() would show a promoted server's timeline only after its next checkpoint. Every role may call
# these functions.
_TIMELINE = (
    "SELECT system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int"
    " FROM pg_catalog.pg_control_system()"
)


class NotConnected(OSError):
    """No server let a connection be opened in time.

    Attributes:
        errors: the latest error of each server.
    """

    def __init__(self, errors: Sequence[BaseException]) -> None:
        super().__init__(", ".join(dict.fromkeys(database_words(error) for error in errors)))
        self.errors = errors


class OlderTimeline(OSError):
    """The server calls itself primary, but another server was promoted after it."""


@dataclass(frozen=True, slots=True)
class _Found:
    dsn: str
    connection: Connection
    timeline: int = 0


class Servers:
    """The servers of one database. Remembers which was used last, when one was silent, and the newest timeline.

    Attributes:
        left_since: when the latest statement was sent that got no response, or when another server was first seen to be
            promoted, on the event loop's clock. Connections that were opened before lead to the server to be left.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._dsns = list(address.servers)  # the one that was used last is the first
        self.left_since = float("-inf")
        self._newest: dict[int, int] = {}  # the newest timeline of each database system

    async def connect(self, within_s: float, **options: Any) -> Connection:
        """Open a connection to a server that fits the URL; of several, to the one that was promoted last.

        Args:
            within_s: how many seconds the servers are tried.
            options: the driver's.

        Raises:
            NotConnected: no server fitted in time.
        """
        ends = asyncio.get_running_loop().time() + within_s
        decided = asyncio.Event()
        attempts = [
            asyncio.create_task(self._keep_trying(dsn, index * STAGGER_S, ends, decided, options))
            for index, dsn in enumerate(self._dsns)
        ]
        try:
            await asyncio.wait(attempts, return_when=asyncio.FIRST_COMPLETED)
            decided.set()
            await asyncio.wait(attempts, timeout=NEWER_WITHIN_S)
        except BaseException:
            _close(await _ended(attempts))
            raise
        return self._choose(await _ended(attempts))

    def _choose(self, results: Sequence[_Found | BaseException]) -> Connection:
        """Return the connection to the newest primary, and close the others."""
        found = [result for result in results if isinstance(result, _Found)]
        if not found:
            errors = [result for result in results if isinstance(result, BaseException)]
            for error in errors:
                if not isinstance(error, (*_FAULTS, asyncio.CancelledError)):
                    raise error
            raise NotConnected([error for error in errors if isinstance(error, _FAULTS)])
        best = max(found, key=lambda each: each.timeline)
        _close([each for each in found if each is not best])
        self._dsns.sort(key=lambda dsn: dsn != best.dsn)
        return best.connection

    async def _keep_trying(
        self, dsn: str, after_s: float, ends: float, decided: asyncio.Event, options: dict[str, Any]
    ) -> _Found:
        """Try one server until it fits, or until time is up or another server fitted."""
        loop = asyncio.get_running_loop()
        last_error: Exception = TimeoutError()  # the server's last error; a later timeout says less
        await _wait(decided, after_s)
        while True:
            try:
                return await self._try(dsn, max(_AT_LEAST_S, ends - loop.time()), options)
            except _FAULTS as error:
                last_error = last_error if isinstance(error, TimeoutError) else error
            if decided.is_set() or loop.time() + _RETRY_S >= ends:
                raise last_error
            await _wait(decided, _RETRY_S)

    async def _try(self, dsn: str, within_s: float, options: dict[str, Any]) -> _Found:
        connection: Connection = await asyncpg.connect(dsn, timeout=within_s, **options)
        if len(self._dsns) == 1:
            return _Found(dsn, connection)
        # A timer ends a query that gets no response: at its own time limit, the driver would open another connection.
        deadline = asyncio.get_running_loop().call_later(within_s, connection.terminate)
        try:
            return _Found(dsn, connection, await self._timeline(connection))
        except BaseException:
            connection.terminate()
            raise
        finally:
            deadline.cancel()

    async def _timeline(self, connection: Connection) -> int:
        """Return the server's timeline; 0 if it has none, as a standby. Raises OlderTimeline."""
        try:
            row = await connection.fetchrow(_TIMELINE)
        except asyncpg.PostgresConnectionError:
            raise
        except asyncpg.PostgresError:
            return 0
        assert row is not None
        system, timeline = row
        newest = self._newest.get(system, timeline)
        if timeline < newest:
            raise OlderTimeline(f"timeline {timeline}, after {newest} was seen")
        if timeline > newest:
            self.left_since = asyncio.get_running_loop().time()
        self._newest[system] = timeline
        return int(timeline)


def database_words(error: BaseException) -> str:
    """Return in words what kind of error it is. Its message could contain the URL with its password."""
    if isinstance(error, asyncpg.PostgresError):
        return _CONDITIONS.get(error.sqlstate or "", f"the server answers with error {error.sqlstate}")
    for kind, words in _WORDS.items():
        if isinstance(error, kind):
            return words
    if isinstance(error, OlderTimeline):
        return "another server was promoted after it"
    if isinstance(error, NotConnected):
        return str(error)
    return connection_words(error) if isinstance(error, OSError) else "an unexpected error"


async def _wait(decided: asyncio.Event, seconds: float) -> None:
    """Wait for so long, or until another server was chosen."""
    try:
        async with asyncio.timeout(seconds):
            await decided.wait()
    except TimeoutError:
        return


async def _ended(attempts: Sequence[asyncio.Task[_Found]]) -> list[_Found | BaseException]:
    """Cancel the attempts that are not done, and return the result or error of each."""
    for attempt in attempts:
        attempt.cancel()
    return await asyncio.gather(*attempts, return_exceptions=True)


def _close(results: Sequence[_Found | BaseException]) -> None:
    for result in results:
        if isinstance(result, _Found):
            result.connection.terminate()
