"""What `holdfast check` reports about connections to the server and about a pooler in front of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from holdfast.service.store.findings import Finding
from holdfast.service.store.postgresql.connection import CONNECT_S, open_connection
from holdfast.service.store.postgresql.servers import Servers, database_words
from holdfast.service.store.postgresql.store import READ_CONNECTIONS, WRITE_CONNECTIONS

if TYPE_CHECKING:
    from holdfast.service.store.postgresql.address import Address
    from holdfast.service.store.postgresql.connection import Connection

# The server may still keep the connection that each write connection replaced, on which a commit waits (decision 0703).
PER_PROCESS = READ_CONNECTIONS + 2 * WRITE_CONNECTIONS
_NODES_WHILE_RESTARTING = 2  # one that is stopping, one that is starting

_ALLOWED = (
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
    " - coalesce(current_setting('reserved_connections', true)::int, 0) AS server,"
    " (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role,"
    " (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database,"
    " (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'"
    "   AND application_name <> 'holdfast' AND pid <> pg_backend_pid()) AS others"
)
_PREPARED = "SELECT $1::int"
_HIDDEN = "SELECT current_setting('citus.override_table_visibility', true) = 'on'"  # see connection.SERVER_SETTINGS
_LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


async def connection_findings(connection: Connection, address: Address, workers: int) -> list[Finding]:
    """Return the findings about connections and the pooler, in that order."""
    row = await connection.fetchrow(_ALLOWED)
    assert row is not None
    allowed = min(limit for limit in (row["server"], row["role"], row["database"]) if limit >= 0)
    between = connection.get_server_pid() != await connection.fetchval("SELECT pg_backend_pid()")
    unlimited = [name for name in _LIMITS if await connection.fetchval("SELECT current_setting($1)", name) == "0"]
    found = [room(allowed, row["others"], workers), pooler(address, between=between)]
    if address.pooled:
        found += limits_of_the_role(unlimited)
        if await connection.fetchval(_HIDDEN):
            fix = "ALTER ROLE … SET citus.override_table_visibility = off"
            found.append(Finding("role on Citus", "error", "shards are hidden: writes time out", fix))
        if address.prepares:
            found.append(await prepared_statements(address))
    return found


def room(allowed: int, others: int, workers: int) -> Finding:
    """Check that the server allows enough connections for this node and a second node.

    Args:
        allowed: connections that the server, the role and the database allow.
        others: connections that other programs have open.
        workers: the number of processes on this node.
    """
    each = PER_PROCESS * workers
    nodes = max(0, allowed - others) // each
    found = f"{allowed} admitted, {others} used by others; a node uses up to {each}: room for {nodes}"
    if nodes >= _NODES_WHILE_RESTARTING:
        return Finding("connections", "ok", found)
    fix = "raise max_connections, or the limit of the role or database; or lower HOLDFAST_WORKERS"
    return Finding("connections", "note" if nodes else "error", found, fix)


def pooler(address: Address, *, between: bool) -> Finding:
    """Check that the database URL states correctly whether there is a pooler in front of the server.

    Args:
        address: the database's address.
        between: whether the server process that responds is not the one reported at connection, as behind PgBouncer.
    """
    if between and not address.pooled:
        fix = "add ?pooler=transaction to HOLDFAST_DATABASE_URL: prepared statements and settings fail behind it"
        return Finding("pooler", "error", "one stands in front, and the URL does not say so", fix)
    if address.pooled and not between:
        fix = "remove pooler= from HOLDFAST_DATABASE_URL: without prepared statements the rate is about half"
        return Finding("pooler", "note", "the URL names one, and the server itself answers", fix)
    return Finding("pooler", "ok", "in transaction mode, as the URL says" if between else "none")


def limits_of_the_role(unlimited: list[str]) -> list[Finding]:
    """Report an error for time limits that the service cannot set through a pooler and that the database role lacks."""
    if not unlimited:
        return [Finding("limits of the role", "ok", "set")]
    fix = "ALTER ROLE … SET statement_timeout = '1500ms', and the others: docs/postgresql.md, a pooler in front"
    return [Finding("limits of the role", "error", f"without limit: {', '.join(unlimited)}", fix)]


async def prepared_statements(address: Address) -> Finding:
    """Check that prepared statements still work after the pooler has switched to another server connection.

    Opens two connections.
    """
    first = await open_connection(Servers(address), CONNECT_S)
    second = await open_connection(Servers(address), CONNECT_S)
    try:
        await first.fetchval(_PREPARED, 1)
        async with second.transaction():
            await second.fetchval("SELECT 1")  # occupies the connection on which the statement was prepared
            await first.fetchval(_PREPARED, 1, timeout=CONNECT_S)
    except asyncpg.PostgresError as error:
        fix = "set max_prepared_statements (PgBouncer since 1.21), or use pooler=transaction"
        return Finding("prepared statements", "error", f"the pooler loses them: {database_words(error)}", fix)
    except TimeoutError:
        return Finding("prepared statements", "note", "not tried: the pooler had no second connection", "ask again")
    finally:
        first.terminate()
        second.terminate()
    return Finding("prepared statements", "ok", "the pooler follows them")
