"""Bytes per row in PostgreSQL, including indexes: fills a database with registrations and prints a table.

    .venv/bin/python bench/postgresql_rows.py [--rows 300000]

docs/scaling.md uses these figures.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import asyncpg
from tests.support.postgres_server import running

from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.schema import TABLES, migrate

SHARD = "((get_byte(sha256(({})::bytea), 0) << 4) | (get_byte(sha256(({})::bytea), 1) >> 4))::smallint"
DID = "'did:new:0x' || encode(sha256(n::text::bytea), 'hex')"
TX = "'0x' || encode(sha256(('t' || n)::bytea), 'hex')"
CREDENTIAL = "rtrim(translate(encode(sha256(('c' || n)::bytea), 'base64'), '+/', '-_'), '=')"
ACCOUNT = "'0x' || substr(encode(sha256(('a' || n)::bytea), 'hex'), 1, 40)"
IP = "substr(encode(sha256(('i' || n)::bytea), 'hex'), 1, 24)"  # as long as the hash of an IPv4 address
ROOT = "'bafyrei' || substr(encode(sha256(('R' || n)::bytea), 'hex'), 1, 52)"  # as long as a CID or an IPNS name
BLOCK = "'bafkrei' || substr(encode(sha256(('B' || n)::bytea), 'hex'), 1, 52)"
NAME = "'k51qzi5uqu5d' || substr(encode(sha256(('N' || n)::bytea), 'hex'), 1, 50)"


def shard(expression: str) -> str:
    return SHARD.format(expression, expression)


# The rows written for each registered identifier: claim, credential and its position, counter of its address, one
# history row (its other rows contain the rest), a verification, a used attestation and a window of sends; a stored
# response; a snapshot of two blocks with its pin and name.
FILL = f"""
INSERT INTO holdfast.identifiers SELECT {shard("'k' || n")}, 'email', 'person.' || n || '@example.com',
    'Person.' || n || '@example.com', {DID}, 'registered', {IP}, 1.8e9 + n, 1.8e9 + n, false FROM g;
INSERT INTO holdfast.credentials SELECT {shard("'k' || n")}, 'email', 'person.' || n || '@example.com', {CREDENTIAL},
    {shard("'c' || n")}, 'Person.' || n || '@example.com', {DID}, {TX}, n, {ACCOUNT}, 1.8e9 + n, 1, 1.8e9 + n,
    'confirmed', 1.8e9 + n, false, false FROM g;
INSERT INTO holdfast.credential_places SELECT {shard("'c' || n")}, {CREDENTIAL}, {shard("'k' || n")}, 'email',
    'person.' || n || '@example.com' FROM g;
INSERT INTO holdfast.ip_counters SELECT {shard(IP)}, {IP}, 1 FROM g;
INSERT INTO holdfast.audit (shard, channel, key, at, action, did) SELECT {shard("'k' || n")}, 'email',
    'person.' || n || '@example.com', 1.8e9 + n, 'confirmed', {DID} FROM g;
INSERT INTO holdfast.verifications SELECT {shard("'k' || n")}, 'email', 'person.' || n || '@example.com', 1.8e9 FROM g;
INSERT INTO holdfast.used_attestations SELECT {shard("'s' || n")}, sha256(('s' || n)::bytea)
    || sha256(('x' || n)::bytea), 1.8e9 FROM g;
INSERT INTO holdfast.windows SELECT {shard("'w' || n")}, 'sends', {IP}, ARRAY[n::bigint], ARRAY[1.8e9], 1.8e9,
    ARRAY[1], ARRAY[1.8e9] FROM g;
INSERT INTO holdfast.codes SELECT {shard("'k' || n")}, 'email', 'person.' || n || '@example.com', n,
    sha256(n::text::bytea), 1.8e9, 1.8e9, {IP} FROM g;
INSERT INTO holdfast.idempotent_responses SELECT {shard("'i' || n")}, sha256(('i' || n)::bytea),
    sha256(('b' || n)::bytea), decode(repeat(encode(sha256(('r' || n)::bytea), 'hex'), 4), 'hex'),
    NULL, NULL, 0, 1.8e9 FROM g;
INSERT INTO holdfast.did_identifiers SELECT {shard(DID)}, {DID}, 'email', 'person.' || n || '@example.com',
    {shard("'k' || n")} FROM g;
INSERT INTO holdfast.snapshot_roots SELECT {shard(DID)}, {DID}, {ROOT}, 100000, {NAME}, 0, 1.8e9,
    ARRAY[{ROOT}, {BLOCK}] FROM g;
INSERT INTO holdfast.snapshot_blocks SELECT {shard(DID)}, {DID}, cid, {shard("cid")}, n::bigint << 32 | 1, 50000, true
    FROM g, LATERAL (VALUES ({ROOT}), ({BLOCK})) AS b (cid);
INSERT INTO holdfast.snapshot_places SELECT {shard("cid")}, cid, {DID}, {shard(DID)}, n::bigint << 32 | 1, 50000
    FROM g, LATERAL (VALUES ({ROOT}), ({BLOCK})) AS b (cid);
INSERT INTO holdfast.snapshot_pins SELECT {shard(DID)}, {DID}, encode(sha256(('q' || n)::bytea), 'hex'), {ROOT}, NULL,
    '[]', '{{}}', 'pinned', 1800000000000000 + n, true FROM g;
INSERT INTO holdfast.snapshot_names SELECT {shard(NAME)}, {NAME}, {DID}, {ROOT}, n, '1800000000000000000',
    decode(repeat(encode(sha256(('e' || n)::bytea), 'hex'), 13), 'hex'), 1.8e9, 60000000000 FROM g;
INSERT INTO holdfast.snapshot_tokens SELECT {shard("'o' || n")}, sha256(('o' || n)::bytea), 'import', {ROOT}, {ROOT},
    1.8e9 FROM g;
"""


async def measure(url: str, rows: int) -> list[tuple[str, int, float, float]]:
    """Return, for each table, its name, rows, and bytes per row in the table and in all indexes."""
    await migrate(parse_address(url))
    connection = await asyncpg.connect(url)
    # Keys are in random order, as in production: an index that was filled in key order would be smaller.
    await connection.execute(f"CREATE TEMP TABLE g AS SELECT n FROM generate_series(1, {rows}) AS n ORDER BY random()")
    for statement in filter(str.strip, FILL.split(";\n")):
        await connection.execute(statement)
    await connection.execute("VACUUM ANALYZE")
    found = []
    for table in TABLES:
        (row,) = await connection.fetch(
            f"SELECT (SELECT count(*) FROM holdfast.{table}), pg_table_size(c), pg_indexes_size(c)"
            f" FROM (SELECT 'holdfast.{table}'::regclass AS c) AS t"
        )
        count, heap, indexes = row
        if count >= rows:
            found.append((table, count, heap / count, indexes / count))
    await connection.close()
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=300_000)
    rows = options.parse_args().rows
    with running(max_wal_size="4GB", autovacuum="off") as server:
        found = asyncio.run(measure(server.new_database(), rows))
    print("| Table | Rows | Bytes a row | Bytes in indexes | In all |\n|---|---|---|---|---|")
    for table, count, heap, indexes in found:
        print(f"| `{table}` | {count} | {heap:.0f} | {indexes:.0f} | {heap + indexes:.0f} |")


if __name__ == "__main__":
    main()
