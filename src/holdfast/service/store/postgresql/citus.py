"""Citus, which spreads the tables of a PostgreSQL database over worker servers by the column `shard`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from holdfast.service.store.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.store.postgresql.connection import Connection

_RECOVERED_WITHIN_S = 5
_RECOVERS = "SELECT setting::int / 1000 FROM pg_catalog.pg_settings WHERE name = 'citus.recover_2pc_interval'"
_RECOVER = (
    "set citus.recover_2pc_interval to 1s: after a crash of a worker, acknowledged writes stay invisible for so long"
)
# A worker commits as its own settings say, whatever the coordinator's connection has set.
_UNSAFE = (
    "SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) FROM pg_catalog.pg_settings"
    " WHERE name IN ('fsync', 'full_page_writes') AND setting <> 'on'"
    " OR name = 'synchronous_commit' AND setting NOT IN ('on', 'remote_apply')"
)
_UNSAFE_WORKERS = (
    "SELECT string_agg(nodename || ':' || nodeport || ' ' || result, '; ' ORDER BY nodename, nodeport)"  # noqa: S608 - our own statement
    f" FROM run_command_on_workers($unsafe${_UNSAFE}$unsafe$) WHERE success AND result <> ''"
)
_ALONE = "SELECT 'holdfast.identifiers'::regclass NOT IN (SELECT logicalrelid FROM pg_catalog.pg_dist_partition)"
_SPREAD = "copy the rows to a database that holdfast migrate has spread (docs/scaling.md, several database servers)"
HAS_CITUS = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus')"
# Those tables of these names that have a shard and are not distributed yet, the first one first.
_WHOLE = (
    "SELECT t.name FROM unnest($1::text[]) WITH ORDINALITY AS t (name, n)"
    " JOIN pg_catalog.pg_attribute AS a ON a.attrelid = ('holdfast.' || t.name)::regclass AND a.attname = 'shard'"
    " WHERE a.attrelid NOT IN (SELECT logicalrelid FROM pg_catalog.pg_dist_partition) ORDER BY t.n"
)
# Citus plans no statement over several shards without its values, and writes to its shards at once, in any order. It
# would let one such write into a shard at a time, until the commit, although the functions lock rows in order.
_SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "citus.multi_shard_modify_mode": "sequential",
    "citus.enable_deadlock_prevention": "off",
}
_CALLED = (
    "SELECT format('%s', p.oid::regprocedure) FROM pg_catalog.pg_proc AS p"
    " WHERE p.pronamespace = 'holdfast'::regnamespace AND 'plan_cache_mode=force_generic_plan' = ANY (p.proconfig)"
)


async def distribute(connection: Connection, tables: Sequence[str]) -> None:
    """Distribute the tables that have a shard, equal shards to one worker, and let the functions run on Citus."""
    with_first = "default"
    for (name,) in await connection.fetch(_WHOLE, list(tables)):
        await connection.execute(
            "SELECT create_distributed_table($1::text::regclass, 'shard', colocate_with => $2)",
            f"holdfast.{name}", with_first,
        )  # fmt: skip
        with_first = f"holdfast.{tables[0]}"
    for (function,) in await connection.fetch(_CALLED):
        for setting, value in _SETTINGS.items():
            await connection.execute(f"ALTER FUNCTION {function} SET {setting} = {value}")


async def citus_findings(connection: Connection) -> list[Finding]:
    """Report whether the coordinator reaches all servers, how they commit, and how soon they recover after a crash."""
    if not await connection.fetchval(HAS_CITUS):
        return []
    lost = await lost_servers(connection)
    if lost:
        fix = "start these servers: requests about their shards, and most writes, answer 503"
        return [Finding("citus", "error", f"does not reach {', '.join(lost)}", fix)]
    servers = await connection.fetchval("SELECT count(*) FROM pg_dist_node")
    waits_s = await connection.fetchval(_RECOVERS)
    unsafe, alone = await connection.fetchval(_UNSAFE_WORKERS), await connection.fetchval(_ALONE)
    return [
        Finding("citus", "ok", f"{servers} servers"),
        *([Finding("workers", "error", unsafe, "set it on: a crash loses answered writes")] if unsafe else []),
        *([Finding("tables", "note", "on the coordinator alone", _SPREAD)] if alone else []),
        *([Finding("recover_2pc_interval", "note", f"{waits_s} s", _RECOVER)] if waits_s > _RECOVERED_WITHIN_S else []),
    ]


async def lost_servers(connection: Connection) -> list[str]:
    """Return the servers that do not answer the coordinator, or not within the connection's time limit."""
    lost: list[str] = []
    for name, port in await connection.fetch("SELECT nodename, nodeport FROM pg_dist_node ORDER BY 1, 2"):
        try:
            reached = await connection.fetchval("SELECT citus_check_connection_to_node($1, $2)", name, port)
        except asyncpg.QueryCanceledError:  # it hangs
            reached = False
        if not reached:
            lost.append(f"{name}:{port}")
    return lost
