"""Databases for the service and for the servers compared with it (peers), filled with registered identifiers by SQL.

Keys are written in shuffled order: as with real credentials, neighbours in an index are not neighbours in the table.
Unique indexes are built at the end, which is faster.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from bench.places import PEERS_SCHEMA, say
from bench.shots import SEEDED_CREDENTIAL, SEEDED_DID, SEEDED_HANDLE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# A prime greater than any requested number of rows, so n -> n * STRIDE % rows permutes the row numbers.
STRIDE = 2_654_435_761
CREATED_AT = 1_763_000_000.25  # a fraction, as real times have: SQLite stores whole seconds in fewer bytes
TX_HASH = "0x" + "ab" * 32
SMART_ACCOUNT = "0x" + "Cd" * 20


def _printf(template: str) -> str:
    return "printf('" + template.replace("{:012d}", "%012d") + "', n)"


_NUMBERS = f"WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < :rows), k(i, n) AS (SELECT i, i * {STRIDE} % :rows FROM c)"  # noqa: E501 - one phrase
_HANDLE, _DID, _CREDENTIAL = _printf(SEEDED_HANDLE), _printf(SEEDED_DID), _printf(SEEDED_CREDENTIAL)

SERVICE_ROWS = (
    f"""{_NUMBERS} INSERT INTO identifiers (id, channel, key, given, did, stage, ip, created_at, registered_at,
    in_audit) SELECT i + 1, 'handle', {_HANDLE}, '', {_DID}, 'registered', '192.0.2.' || (i % 256), {CREATED_AT},
    {CREATED_AT}, 0 FROM k""",
    f"""{_NUMBERS} INSERT INTO credentials (credential, identifier_id, identifier, channel, did, tx_hash, block_number,
    smart_account, created_at, ask_at, confirmation, settled_at, in_audit, signed) SELECT {_CREDENTIAL}, i + 1,
    {_HANDLE}, 'handle', {_DID}, x'{TX_HASH[2:]}', 1000000 + i, '{SMART_ACCOUNT}', {CREATED_AT}, 0,
    'confirmed', {CREATED_AT}, 0, 0 FROM k""",
)
PEER_ROWS = (
    f"""{_NUMBERS} INSERT INTO sessions SELECT i + 1, 'handle', {_HANDLE}, {_DID}, '192.0.2.' || (i % 256),
    '2025-11-13T02:13:20.250Z' FROM k""",
    f"""{_NUMBERS} INSERT INTO registered_dids SELECT i + 1, {_CREDENTIAL}, {_HANDLE}, 'handle', {_DID}, '{TX_HASH}',
    1000000 + i, '{SMART_ACCOUNT}', '2025-11-13T02:13:20.250Z' FROM k""",
)


def service_database(file: Path, rows: int) -> None:
    """Create a new database with the service's schema and `rows` registered identifiers."""
    # Imported only here, so that the peers can be measured even if importing the service fails.
    from holdfast.service.store.sqlite.schema import connect, migrate

    connection = connect(file)
    migrate(connection)
    _fill(connection, SERVICE_ROWS, rows)


def peers_database(file: Path, rows: int) -> None:
    """Create a new database with the peers' schema and the same registered identifiers."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.executescript(PEERS_SCHEMA.read_text())
    _fill(connection, PEER_ROWS, rows)


def tell_size(rows: int) -> None:
    """For a large database, print how many rows are being written and about how long that takes."""
    if rows >= 1_000_000:
        say(f"writing {rows:,} registered identifiers (about a minute for each million)")


def _fill(connection: sqlite3.Connection, statements: Iterable[str], rows: int) -> None:
    tell_size(rows)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA synchronous = OFF")  # for this connection only; servers use their own setting
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    ).fetchall()
    _each(connection, (f"DROP INDEX {name}" for name, _ in indexes))
    for statement in statements:
        connection.execute(statement, {"rows": rows})
    _each(connection, (sql for _, sql in indexes))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _each(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        connection.execute(statement)
