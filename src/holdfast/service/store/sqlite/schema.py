"""The embedded store's tables, as migrations: each brings the file from one version to the next."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from holdfast.rules.addresses import network_of
from holdfast.service.store.database import SchemaTooNew

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_TIMEOUT_MS = 5000
# A bound for each connection, taken only as pages are read: SQLite's own 2 MB is full with 4,000 registrations.
CACHE_KIB = 16 * 1024

MIGRATIONS = (
    """
    CREATE TABLE identifiers (
        id INTEGER PRIMARY KEY,
        channel TEXT NOT NULL CHECK (channel IN ('handle', 'email', 'sms')),
        key TEXT NOT NULL,
        given TEXT NOT NULL,
        did TEXT NOT NULL,
        stage TEXT NOT NULL CHECK (stage IN ('session', 'registered')),
        ip TEXT NOT NULL,
        created_at REAL NOT NULL,
        registered_at REAL
    ) STRICT;
    CREATE UNIQUE INDEX identifiers_key ON identifiers (channel, key);

    CREATE TABLE credentials (
        id INTEGER PRIMARY KEY,
        credential TEXT NOT NULL,
        identifier_id INTEGER NOT NULL REFERENCES identifiers (id) ON DELETE CASCADE,
        identifier TEXT NOT NULL,
        channel TEXT NOT NULL,
        did TEXT NOT NULL,
        tx_hash TEXT NOT NULL,
        block_number INTEGER,
        smart_account TEXT,
        created_at REAL NOT NULL,
        confirmation TEXT NOT NULL CHECK (confirmation IN ('pending', 'confirmed', 'refused')),
        settled_at REAL
    ) STRICT;
    CREATE UNIQUE INDEX credentials_credential ON credentials (credential);
    CREATE INDEX credentials_identifier ON credentials (identifier_id);
    CREATE INDEX credentials_pending ON credentials (credential) WHERE confirmation = 'pending';

    CREATE TABLE codes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        digest BLOB NOT NULL,
        sent_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX codes_key ON codes (channel, key);

    CREATE TABLE sends (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        ip TEXT NOT NULL,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        at REAL NOT NULL
    ) STRICT;
    CREATE INDEX sends_ip ON sends (ip, at);
    CREATE INDEX sends_key ON sends (channel, key, at);
    CREATE INDEX sends_at ON sends (at);

    CREATE TABLE verifications (
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        verified_at REAL NOT NULL,
        PRIMARY KEY (channel, key)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE used_attestations (
        signature BLOB PRIMARY KEY,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ip_counters (
        ip TEXT PRIMARY KEY,
        registrations INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE totals (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO totals VALUES ('registrations', 0);

    CREATE TABLE leases (
        name TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        action TEXT NOT NULL,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        did TEXT
    ) STRICT;
    CREATE INDEX audit_key ON audit (channel, key);

    -- What a new claim always brings with it: one statement from Python instead of four.
    CREATE TRIGGER identifiers_claimed AFTER INSERT ON identifiers BEGIN
        INSERT INTO ip_counters VALUES (new.ip, 1) ON CONFLICT DO UPDATE SET registrations = registrations + 1;
        UPDATE totals SET value = value + 1 WHERE name = 'registrations';
        INSERT INTO audit (at, action, channel, key, did)
        VALUES (new.created_at, 'session', new.channel, new.key, new.did);
    END;
    """,
    # 2: one table of windows in place of `sends`; who asked for a code; when a registration is asked about next.
    """
    CREATE TABLE charges (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        what TEXT NOT NULL,
        subject TEXT NOT NULL,
        at REAL NOT NULL
    ) STRICT;
    CREATE INDEX charges_window ON charges (what, subject, at);
    CREATE INDEX charges_at ON charges (at);
    INSERT INTO charges (what, subject, at) SELECT 'sends', ip, at FROM sends;
    INSERT INTO charges (what, subject, at) SELECT 'sends', network_of(ip), at FROM sends WHERE network_of(ip) NOT NULL;
    INSERT INTO charges (what, subject, at) SELECT 'codes', key, at FROM sends WHERE channel = 'email';
    INSERT INTO charges (what, subject, at) SELECT 'sms_to_number', key, at FROM sends WHERE channel = 'sms';
    DROP TABLE sends;

    INSERT INTO ip_counters SELECT network_of(ip), sum(registrations) FROM ip_counters
    WHERE network_of(ip) NOT NULL GROUP BY 1;

    ALTER TABLE codes ADD COLUMN ip TEXT NOT NULL DEFAULT '';
    ALTER TABLE codes ADD COLUMN attempts_by_others INTEGER NOT NULL DEFAULT 0;

    ALTER TABLE credentials ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE credentials ADD COLUMN ask_at REAL NOT NULL DEFAULT 0;
    UPDATE credentials SET ask_at = created_at;
    DROP INDEX credentials_pending;
    CREATE INDEX credentials_pending ON credentials (ask_at) WHERE confirmation = 'pending';
    CREATE INDEX credentials_refused ON credentials (settled_at) WHERE confirmation = 'refused';
    CREATE INDEX audit_passing ON audit (at) WHERE action IN ('code_sent', 'refused');
    """,
)
SCHEMA_VERSION = len(MIGRATIONS)
TABLES = (
    "identifiers", "credentials", "codes", "charges", "verifications", "used_attestations", "ip_counters", "totals",
    "leases", "audit",
)  # fmt: skip


def connect(file: Path) -> sqlite3.Connection:
    """A connection in autocommit mode with the pragmas that the promises rest on.

    The file is made readable by its owner alone; SQLite gives its companions (-wal, -shm) the same mode.
    """
    if not file.exists():
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def schema_version(connection: sqlite3.Connection) -> int:
    """The version that the file says it has; 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a trigger's body, which contains semicolons, stays in one piece."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def migrate(connection: sqlite3.Connection) -> int:
    """Bring the file to this release's schema; returns the version it had. Raises SchemaTooNew.

    All steps are one transaction that waits for its turn, so several processes may start at once.
    """
    connection.create_function("network_of", 1, network_of, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = schema_version(connection)
        if found > SCHEMA_VERSION:
            raise SchemaTooNew(found, SCHEMA_VERSION)
        for step in MIGRATIONS[found:]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return found
