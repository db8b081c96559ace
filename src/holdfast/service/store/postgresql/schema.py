"""The PostgreSQL schema and its migrations, which run while nodes of the old and the new release are serving.

Each step of a migration is one transaction under a database-wide lock: one node migrates, and the others wait. There
are three kinds of steps: *expand* adds tables, columns and functions that an older release does not use; *backfill*
fills the new tables and columns in parts; *contract* removes what only older releases used, and raises the oldest
release that can use the database. The names of database functions include a version, so that an older release continues
to call its own versions.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

import asyncpg

from holdfast.service.store.database import SchemaTooNew
from holdfast.service.store.port import StoreUnavailable, StoreUnreachable
from holdfast.service.store.postgresql.citus import HAS_CITUS, distribute
from holdfast.service.store.postgresql.connection import LOST, NOT_NOW, open_connection
from holdfast.service.store.postgresql.refused import refuse_other_engines, refuse_unfinished_move
from holdfast.service.store.postgresql.servers import Servers, database_words

if TYPE_CHECKING:
    from holdfast.service.store.postgresql.address import Address
    from holdfast.service.store.postgresql.backfill import Backfill
    from holdfast.service.store.postgresql.connection import Connection

_LOCK = 0x686F6C64  # "hold"; a transaction-level lock works through a pooler in transaction mode
_WAIT_FOR_LOCK = "60s"
# How long a step waits for a table: a running export or pg_dump may be reading it, and requests queue behind the step.
_WAIT_FOR_TABLE = "300ms"
BETWEEN_TRIES_S = 1.0
_WAIT_IN_ALL_S = 60.0
# The statement queries the catalogue, because another node's migration may have made to_regclass's cache stale.
_HAS_SCHEMA = (
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'holdfast' AND c.relname = 'schema_version')"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the schema.

    Attributes:
        scripts: files in `migrations/` that run in one transaction.
        for_citus: further files for a database with Citus.
        backfill: what has to be done for every row of a table before the scripts run.
        oldest: the oldest schema version whose release can use the database once this step is done.
    """

    scripts: tuple[str, ...] = ()
    for_citus: tuple[str, ...] = ()
    backfill: Backfill | None = None
    oldest: int = 1


STEPS: tuple[Step, ...] = (
    Step(
        scripts=(
            "0001_tables.sql",
            "0001_sessions.sql",
            "0001_registration_facts.sql",
            "0001_one_server.sql",
            "0001_registrations.sql",
            "0001_windows.sql",
            "0001_codes.sql",
            "0001_idempotent_responses.sql",
            "0001_maintenance.sql",
            "0001_snapshot_tables.sql",
            "0001_snapshots.sql",
            "0001_snapshot_uploads.sql",
            "0001_snapshot_pins.sql",
            "0001_snapshot_upkeep.sql",
            "0001_recoveries.sql",
            "0001_persons.sql",
            "0001_additions.sql",
            "0001_outbox.sql",
            "0001_administration.sql",
            "0001_sponsorships.sql",
        ),
        for_citus=("0001_citus.sql",),
    ),
)
SCHEMA_VERSION = len(STEPS)
TABLES = (
    "identifiers", "credentials", "credential_places", "codes", "windows", "verifications", "used_attestations",
    "ip_counters", "totals", "leases", "audit", "bans", "admin_keys", "invitations",
    "idempotent_responses", "did_identifiers",
    "snapshot_shards", "snapshot_roots", "snapshot_blocks", "snapshot_places", "snapshot_uploads", "snapshot_pins",
    "snapshot_tokens", "snapshot_revocations", "snapshot_names", "snapshot_garbage",
    "snapshot_orphans", "recovery_requests", "recovery_mails", "outbox", "sponsorships", "sponsor_days",
)  # fmt: skip


@dataclass(slots=True)
class Migration:
    """The result of a migration: the schema versions before and after it, and the number of backfilled rows."""

    found: int
    now: int
    backfilled: int = field(default=0)


async def migrate(address: Address, within_s: float = 5.0, *, moving: bool = False) -> Migration:
    """Migrate the database to this release's schema, if its schema is older.

    With `moving`, a database that an unfinished move has begun to fill is accepted.

    Raises:
        RefusedDatabase: no service may run on it (see `refused`).
        SchemaTooNew: the database no longer supports releases as old as this one.
        StoreUnreachable: it does not respond, or is stopping.
        StoreUnavailable: it refuses a statement, or the address or role is wrong.
    """
    try:
        connection = await open_connection(Servers(address), within_s)
        try:
            await refuse_other_engines(connection)
            if not moving:
                await refuse_unfinished_move(connection)
            return await _migrate(connection)
        finally:
            await connection.close(timeout=within_s)
    except (*LOST, *NOT_NOW) as error:
        raise StoreUnreachable(f"the database was lost during a migration: {database_words(error)}") from error
    except asyncpg.PostgresError as error:
        raise StoreUnavailable(f"the database refused a migration: {error}") from error


async def _migrate(connection: Connection) -> Migration:
    found = await _version(connection)
    done = Migration(found, found)
    while done.now < len(STEPS):
        backfill = STEPS[done.now].backfill
        if backfill is not None:
            done.backfilled += await backfill.run(connection)
        done.now = await _step(connection)
    return done


async def _version(connection: Connection) -> int:
    """Return the schema version; 0 without a schema. Raises SchemaTooNew."""
    if not await connection.fetchval(_HAS_SCHEMA):
        return 0
    row = await connection.fetchrow("SELECT version, oldest FROM holdfast.schema_version")
    if row is None:
        return 0
    if row["oldest"] > len(STEPS):
        raise SchemaTooNew(row["version"], len(STEPS))
    return int(row["version"])


async def _step(connection: Connection) -> int:
    """Do the next step, retrying for a minute while other transactions are using a table that the step changes."""
    ends = time.monotonic() + _WAIT_IN_ALL_S
    while True:
        try:
            return await _try_step(connection)
        except asyncpg.LockNotAvailableError:
            if time.monotonic() >= ends:
                raise
        await asyncio.sleep(BETWEEN_TRIES_S)


async def _try_step(connection: Connection) -> int:
    """Do the next step under the lock, unless another node has completed the migration; return the schema version."""
    async with connection.transaction():
        # The limits apply to this transaction only, because a pooler may give the connection to another client
        # afterwards.
        await connection.execute(f"SET LOCAL lock_timeout = '{_WAIT_FOR_LOCK}'; SET LOCAL statement_timeout = 0")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(f"SET LOCAL lock_timeout = '{_WAIT_FOR_TABLE}'")
        version = await _version(connection)
        if version >= len(STEPS):
            return version
        if version == 0:
            await connection.execute(
                "CREATE SCHEMA IF NOT EXISTS holdfast;"
                "CREATE TABLE IF NOT EXISTS holdfast.schema_version ("
                " one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL, oldest integer NOT NULL)"
            )
        step = STEPS[version]
        is_citus = await connection.fetchval(HAS_CITUS)
        for script in (*step.scripts, *(step.for_citus if is_citus else ())):
            await connection.execute(read_script(script))
        if is_citus:
            await distribute(connection, TABLES)
        await connection.execute(
            "INSERT INTO holdfast.schema_version (version, oldest) VALUES ($1, $2)"
            " ON CONFLICT (one) DO UPDATE SET version = excluded.version, oldest = excluded.oldest",
            version + 1,
            step.oldest,
        )
        return version + 1


def read_script(name: str) -> str:
    """Return the SQL of a migration's script."""
    return (files("holdfast.service.store.postgresql") / "migrations" / name).read_text()
