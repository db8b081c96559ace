"""Splits the PostgreSQL schema by the shard column: into hash partitions, or across two servers with postgres_fdw."""

from __future__ import annotations

import re
from collections.abc import Callable
from unittest import mock

from tests.support.postgres_server import USER, PostgresServer

from holdfast.rules.shards import SHARDS
from holdfast.service.store.postgresql import schema
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.database import in_thread

PARTITIONS = 16
LOCAL_BELOW = SHARDS // 2  # on two servers, the lower half of the shards is on the first
_TABLE = re.compile(r"CREATE TABLE holdfast\.(\w+) \(\n(.*?)\n\)( WITH \([^)]*\))?;", re.DOTALL)
_KEY = re.compile(r",\n    (PRIMARY KEY \([^)]*\))")


def partition(url: str) -> None:
    _migrate(url, _in_hash_partitions)


def span(url: str, far: PostgresServer, far_url: str) -> None:
    """Create the schema in an empty database, with the upper half of its shards in a database on another server."""
    schema_of_far = parse_address(far_url)
    in_thread(lambda: schema.migrate(schema_of_far))

    def across(name: str, columns: str) -> str:
        return _on_two_servers(name, columns)

    database = far_url.rpartition("/")[2]
    joined = (
        "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw"
        f" OPTIONS (host '127.0.0.1', port '{far.port}', dbname '{database}');"
        f"CREATE USER MAPPING FOR {USER} SERVER far OPTIONS (user '{USER}');"
    )
    _migrate(url, across, joined)


def _migrate(url: str, cut: Callable[[str, str], str], before: str = "") -> None:
    ours = schema.read_script

    def script(name: str) -> str:
        text = _TABLE.sub(lambda found: _cut(found, cut), ours(name))
        return before + text if name == "0001_tables.sql" else text

    address = parse_address(url)
    with mock.patch.object(schema, "read_script", script):
        in_thread(lambda: schema.migrate(address))


def _cut(found: re.Match[str], cut: Callable[[str, str], str]) -> str:
    """Only tables with a shard column are split; totals and leases do not belong to an identifier."""
    return cut(found[1], found[2]) if found[2].startswith("    shard smallint") else found[0]


def _in_hash_partitions(name: str, columns: str) -> str:
    parts = [
        f"CREATE TABLE holdfast.{name}_{n} PARTITION OF holdfast.{name}"
        f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {n});"
        for n in range(PARTITIONS)
    ]
    return f"CREATE TABLE holdfast.{name} (\n{columns}\n) PARTITION BY HASH (shard);" + "\n".join(parts)


def _on_two_servers(name: str, columns: str) -> str:
    """Return SQL with a key per partition, because a table with a foreign partition cannot have a unique index."""
    key = _KEY.search(columns)
    assert key is not None, f"{name} has no key"
    return (
        f"CREATE TABLE holdfast.{name} (\n{_KEY.sub('', columns)}\n) PARTITION BY RANGE (shard);"
        f"CREATE TABLE holdfast.{name}_near PARTITION OF holdfast.{name} ({key[1]})"
        f" FOR VALUES FROM (0) TO ({LOCAL_BELOW});"
        f"CREATE FOREIGN TABLE holdfast.{name}_far PARTITION OF holdfast.{name}"
        f" FOR VALUES FROM ({LOCAL_BELOW}) TO ({SHARDS}) SERVER far OPTIONS (schema_name 'holdfast', table_name '{name}');"
    )
