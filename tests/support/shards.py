"""Splits the PostgreSQL schema by the shard column into hash partitions."""

from __future__ import annotations

import re
from unittest import mock

from holdfast.service.store.postgresql import schema
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.database import in_thread

PARTITIONS = 16
_TABLE = re.compile(r"CREATE TABLE holdfast\.(\w+) \(\n(.*?)\n\)( WITH \([^)]*\))?;", re.DOTALL)


def partition(url: str) -> None:
    ours = schema.read_script
    address = parse_address(url)
    with mock.patch.object(schema, "read_script", lambda name: _TABLE.sub(_cut, ours(name))):
        in_thread(lambda: schema.migrate(address))


def _cut(found: re.Match[str]) -> str:
    """Only tables with a shard column are split; totals and leases do not belong to an identifier."""
    return _in_hash_partitions(found[1], found[2]) if found[2].startswith("    shard smallint") else found[0]


def _in_hash_partitions(name: str, columns: str) -> str:
    parts = [
        f"CREATE TABLE holdfast.{name}_{n} PARTITION OF holdfast.{name}"
        f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {n});"
        for n in range(PARTITIONS)
    ]
    return f"CREATE TABLE holdfast.{name} (\n{columns}\n) PARTITION BY HASH (shard);" + "\n".join(parts)
