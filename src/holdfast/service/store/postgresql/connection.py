"""One connection to PostgreSQL, with time limits for opening it, for responses, and for detecting a silent network."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from typing import TYPE_CHECKING, TypeAlias

import asyncpg
from asyncpg.exceptions import InternalClientError, PostgresConnectionError

from holdfast.service.store.port import StoreUnavailable, StoreUnreachable
from holdfast.service.store.postgresql.connection_options import CONNECTION_SETTINGS, keep_alive
from holdfast.service.store.postgresql.refused import RefusedDatabase, refuse_unfinished_move
from holdfast.service.store.postgresql.servers import NotConnected, database_words
from holdfast.service.telemetry import metrics

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.service.store.postgresql.servers import Servers

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

CONNECT_S = 1.0
ANSWER_S = 2.0

# Time limits that the server applies, in case the client cannot end a statement or a transaction itself.
SERVER_SETTINGS = {
    **CONNECTION_SETTINGS,
    "statement_timeout": "1500ms",
    "lock_timeout": "1s",
    "idle_in_transaction_session_timeout": "5s",
    # Every statement finds its rows by key. With sequential scans enabled, a plan that was made while a table was small
    # would read the whole table after it has grown, until the server's next ANALYZE.
    "enable_seqscan": "off",
    # Citus hides its shards from queries about the catalogue. The driver's query about types, with which a connection
    # begins, then takes a hundred times as long, on a busy machine longer than a statement may. Other servers ignore
    # this setting.
    "citus.override_table_visibility": "off",
}

# With a lower value, as hosted databases offer it for a role, a crash or a fail-over would lose acknowledged writes.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')"
)

# Errors of the connection, not of a statement.
LOST = (OSError, PostgresConnectionError, asyncpg.InterfaceError, InternalClientError, TimeoutError)
# Errors of a server that temporarily refuses connections, is stopping, or is a standby. Such a server has done nothing,
# and a retry may succeed.
NOT_NOW = (
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.ReadOnlySQLTransactionError,
)
# Errors that waiting cannot cure: the address, the role or a certificate is wrong.
_MISTAKES = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    ssl.SSLCertVerificationError,
)

# While a commit is waiting for a standby, the server does not notice that the client is gone, and the connection stays
# in use. Each further write would occupy another connection, until the server had none left for reads.
_WAITING_COMMITS = (
    "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = current_user"
    " AND datname = current_database() AND clock_timestamp() - query_start > interval '1 s'"
)


class NotSent(StoreUnavailable):
    """The statement was not sent, because there is no connection or because commits are waiting for a lost standby."""


class NotReached(NotSent, StoreUnreachable):
    """The server could not be reached, but a later try may succeed."""


class StoreConnection:
    """Sends statements one at a time over one connection, which is opened when needed and again after a failure."""

    def __init__(self, servers: Servers, *, is_citus: bool = False) -> None:
        self._servers = servers
        self.is_citus = is_citus
        self._connection: Connection | None = None
        self._opened_at = 0.0
        self._unanswered = False  # a response was missing, and commits may still be waiting for a standby

    async def fetch(self, statement: str, values: Sequence[object]) -> list[asyncpg.Record]:
        """Return the rows that a statement returns.

        Raises:
            NotSent: no connection could be opened, or commits are waiting for a lost standby.
            StoreUnavailable: no response arrived; whether a write succeeded is unknown.
            PostgresError: the server refused the statement; nothing of it was stored.
        """
        if self._unanswered:
            await self._see_commits_end()
        return await self._fetch(statement, values)

    async def _fetch(self, statement: str, values: Sequence[object]) -> list[asyncpg.Record]:
        connection = await self._opened()
        # A timer ends the connection, because at the driver's own time limit the driver would first open a second
        # connection to request cancellation.
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        deadline = loop.call_later(ANSWER_S, connection.terminate)
        try:
            return await connection.fetch(statement, *values)
        except NOT_NOW as error:
            self.abandon()
            raise StoreUnavailable(database_words(error)) from error
        except LOST as error:
            self.abandon()
            self._unanswered = True
            self._servers.left_since = max(sent_at, self._servers.left_since)
            raise StoreUnavailable(f"no answer from the database: {database_words(error)}") from error
        finally:
            deadline.cancel()

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return self._connection is not None and not self._connection.is_closed()

    def abandon(self) -> None:
        """Close the connection without notifying the server."""
        metrics.CONNECTIONS_LOST.add()
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            connection.terminate()

    async def close(self) -> None:
        """Close the connection and notify the server, within a time limit."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            with contextlib.suppress(*LOST, asyncpg.PostgresError):
                await connection.close(timeout=CONNECT_S)

    async def _see_commits_end(self) -> None:
        """Raise NotSent while commits are waiting for a lost standby, since any further write would wait too."""
        try:
            waiting = (await self._fetch(_WAITING_COMMITS, ()))[0][0]
        except NotSent:
            raise
        except StoreUnavailable as error:
            raise NotSent(*error.args) from error
        if waiting:
            raise NotSent("commits wait for a standby that is gone: start it, or empty synchronous_standby_names")
        self._unanswered = False

    async def _opened(self) -> Connection:
        connection = self._connection
        if connection is not None and self._opened_at <= self._servers.left_since:
            self.abandon()  # its server does not respond to another connection, or another server was promoted
        elif connection is not None and not connection.is_closed():
            return connection
        opening_at = asyncio.get_running_loop().time()
        connection = await open_connection(self._servers, CONNECT_S)
        await _first(connection, refuse_unfinished_move)  # which may have begun since the store was opened
        self._connection, self._opened_at = connection, opening_at
        return connection


async def open_connection(servers: Servers, within_s: float) -> Connection:
    """Open a connection that detects network failures, trying for `within_s` seconds.

    Raises NotSent if a server refuses the client permanently, otherwise NotReached (a subclass of NotSent).
    """
    address = servers.address
    try:
        connection = await servers.connect(
            within_s,
            statement_cache_size=100 if address.prepares else 0,
            server_settings={} if address.pooled else SERVER_SETTINGS,
        )
    except NotConnected as error:
        kind = NotSent if any(isinstance(each, _MISTAKES) for each in error.errors) else NotReached
        raise kind(f"no connection to the database: {error}") from error
    try:
        keep_alive(connection)
    except OSError as error:  # the server ended the connection while the other servers were awaited
        raise NotReached(f"no connection to the database: {database_words(error)}") from error
    if not address.pooled:
        await _first(connection, _make_durable)
    return connection


async def _make_durable(connection: Connection) -> None:
    """Let the connection's commits wait for the disk and the standbys."""
    await connection.execute(_DURABLE)


async def _first(connection: Connection, step: Callable[[Connection], Awaitable[None]]) -> None:
    """Take a first step on a new connection, within a time limit. Raises NotSent if it refuses, else NotReached."""
    deadline = asyncio.get_running_loop().call_later(ANSWER_S, connection.terminate)
    try:
        await step(connection)
    except RefusedDatabase as error:
        connection.terminate()
        raise NotSent(str(error)) from error
    except (*LOST, asyncpg.PostgresError) as error:
        connection.terminate()
        raise NotReached(f"no connection to the database: {database_words(error)}") from error
    finally:
        deadline.cancel()


logging.getLogger("asyncpg").setLevel(logging.CRITICAL)  # every failure reaches the caller, who logs it once
