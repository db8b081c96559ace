"""Fills a PostgreSQL database with registered identifiers, by SQL, in the service's schema.

Each registration's identifier and credential are written, with the rows that find them by credential and by DID, and
the counters. A registration's three history rows are omitted, because no request reads them and writing them would take
half the time. Primary keys are built at the end, which is faster, followed by ANALYZE.
"""

from __future__ import annotations

import asyncio

import asyncpg

from bench.databases import CREATED_AT, SMART_ACCOUNT, STRIDE, TX_HASH, tell_size
from bench.shots import SEEDED_CREDENTIAL, SEEDED_DID, SEEDED_HANDLE
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.schema import migrate


def shard(key: str) -> str:
    """Return an SQL expression that computes the shard of a bytea, as holdfast.rules.shards does."""
    return f"((get_byte(sha256({key}), 0) << 4) | (get_byte(sha256({key}), 1) >> 4))::smallint"


def _numbered(template: str) -> str:
    return "'" + template.replace("{:012d}", "") + "' || lpad(n::text, 12, '0')"


_IDENTIFIER = r"'handle'::bytea || '\x00'::bytea || key::bytea"
# As in bench/databases.py, rows are not in key order, and there are 256 different client addresses.
_SEED = f"""
CREATE UNLOGGED TABLE holdfast.seed AS SELECT i, key, credential, did, ip,
    {shard(_IDENTIFIER)} AS shard, {shard("credential::bytea")} AS credential_shard
FROM (SELECT i, {_numbered(SEEDED_HANDLE)} AS key, {_numbered(SEEDED_CREDENTIAL)} AS credential,
    {_numbered(SEEDED_DID)} AS did, '192.0.2.' || (i & 255) AS ip
    FROM (SELECT i, i * {STRIDE} % $rows AS n FROM generate_series(0::bigint, $rows - 1) AS i) AS numbers) AS keys
"""
_ROWS = (
    f"""INSERT INTO holdfast.identifiers SELECT shard, 'handle', key, key, did, 'registered', ip, {CREATED_AT},
    {CREATED_AT}, true FROM holdfast.seed""",
    f"""INSERT INTO holdfast.credentials SELECT shard, 'handle', key, credential, credential_shard, key, did,
    '{TX_HASH}', 1000000 + i, '{SMART_ACCOUNT}', {CREATED_AT}, 1, {CREATED_AT}, 'confirmed', {CREATED_AT},
    true, false FROM holdfast.seed""",
    """INSERT INTO holdfast.credential_places SELECT credential_shard, credential, shard, 'handle', key
    FROM holdfast.seed""",
    f"INSERT INTO holdfast.ip_counters SELECT {shard('ip::bytea')}, ip, count(*) FROM holdfast.seed GROUP BY ip",
    """INSERT INTO holdfast.did_identifiers SELECT holdfast.shard_of_v1(did), did, 'handle', key, shard
    FROM holdfast.seed""",
    "INSERT INTO holdfast.totals VALUES ('registrations', 0, $rows)",
    "DROP TABLE holdfast.seed",
)
_KEYS = """
SELECT format('holdfast.%I', relname) AS relation, quote_ident(conname) AS name,
    pg_get_constraintdef(k.oid) AS definition
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = conrelid WHERE connamespace = 'holdfast'::regnamespace
AND contype = 'p' AND relname IN ('identifiers', 'credentials', 'credential_places', 'did_identifiers')
"""


def fill(url: str, rows: int) -> None:
    """Migrate a new database to the service's schema and write `rows` registered identifiers."""
    asyncio.run(_fill(url, rows))


async def _fill(url: str, rows: int) -> None:
    tell_size(rows)
    await migrate(parse_address(url))
    connection = await asyncpg.connect(url)
    await connection.execute("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; SET work_mem = '256MB'")
    keys = await connection.fetch(_KEYS)
    assert keys, "nothing to build at the end"
    for key in keys:
        await connection.execute(f"ALTER TABLE {key['relation']} DROP CONSTRAINT {key['name']}")
    for statement in (_SEED, *_ROWS):
        await connection.execute(statement.replace("$rows", str(rows)))
    for key in keys:
        await connection.execute(f"ALTER TABLE {key['relation']} ADD CONSTRAINT {key['name']} {key['definition']}")
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")
    await connection.close()
