"""The embedded store's tables, as migrations. Each migration brings the file from one schema version to the next."""

from __future__ import annotations

from holdfast.service.store.sqlite.outbox import OUTBOX_TABLES
from holdfast.service.store.sqlite.recovery_schema import RECOVERY_TABLE_NAMES, RECOVERY_TABLES
from holdfast.service.store.sqlite.snapshot_schema import SNAPSHOT_TABLE_NAMES, SNAPSHOT_TABLES
from holdfast.service.store.sqlite.sponsorships import SPONSOR_TABLE_NAMES, SPONSOR_TABLES

_TABLES = """
    CREATE TABLE identifiers (
        id INTEGER PRIMARY KEY,
        channel TEXT NOT NULL CHECK (channel IN ('handle', 'email', 'sms')),
        key TEXT NOT NULL,
        given TEXT NOT NULL,
        did TEXT NOT NULL,
        stage TEXT NOT NULL CHECK (stage IN ('session', 'registered')),
        ip TEXT NOT NULL,
        created_at REAL NOT NULL,
        registered_at REAL,
        in_audit INTEGER NOT NULL,
        signed INTEGER NOT NULL DEFAULT 0 -- whether the DID's key signed that the address is the DID's
    ) STRICT;
    CREATE UNIQUE INDEX identifiers_key ON identifiers (channel, key);
    -- Registered handles are found by their credentials; addresses may have none.
    CREATE INDEX identifiers_did_end ON identifiers (substr(did, -12)) WHERE stage = 'session' OR channel <> 'handle';
    CREATE INDEX identifiers_created ON identifiers (created_at);

    CREATE TABLE credentials (
        id INTEGER PRIMARY KEY,
        credential TEXT NOT NULL,
        identifier_id INTEGER NOT NULL REFERENCES identifiers (id) ON DELETE CASCADE,
        identifier TEXT NOT NULL,
        channel TEXT NOT NULL,
        did TEXT NOT NULL,
        tx_hash ANY NOT NULL, -- bytes, or as text what is not a hash (hashes.py)
        block_number INTEGER,
        smart_account TEXT,
        created_at REAL NOT NULL,
        confirmation TEXT NOT NULL CHECK (confirmation IN ('pending', 'confirmed', 'refused')),
        settled_at REAL,
        asked INTEGER NOT NULL DEFAULT 0,
        ask_at REAL NOT NULL,
        in_audit INTEGER NOT NULL,
        signed INTEGER NOT NULL -- whether the DID's key signed the request
    ) STRICT;
    CREATE UNIQUE INDEX credentials_credential ON credentials (credential);
    CREATE INDEX credentials_identifier ON credentials (identifier_id);
    CREATE INDEX credentials_pending ON credentials (ask_at) WHERE confirmation = 'pending';
    CREATE INDEX credentials_refused ON credentials (settled_at) WHERE confirmation = 'refused';
    -- The DIDs' last characters distinguish nearly all DIDs in a sixth of the bytes.
    CREATE INDEX credentials_did_end ON credentials (substr(did, -12));

    CREATE TABLE codes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        digest BLOB NOT NULL,
        sent_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        ip TEXT NOT NULL,
        attempts_by_others INTEGER NOT NULL DEFAULT 0,
        same_until REAL NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX codes_key ON codes (channel, key);

    CREATE TABLE charges (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        what TEXT NOT NULL,
        subject TEXT NOT NULL,
        at REAL NOT NULL
    ) STRICT;
    CREATE INDEX charges_window ON charges (what, subject, at);
    CREATE INDEX charges_at ON charges (at);

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

    -- `operator`: who did it, if an operator did.
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        action TEXT NOT NULL,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        did TEXT,
        operator TEXT
    ) STRICT;
    CREATE INDEX audit_acts ON audit (at, id) WHERE operator IS NOT NULL;
    CREATE INDEX audit_key ON audit (channel, key);
    CREATE INDEX audit_did_end ON audit (substr(did, -12)) WHERE did IS NOT NULL;
    CREATE INDEX audit_named ON audit (at) WHERE substr(key, 1, 5) <> 'hash '; -- rules/pseudonyms.py
    CREATE INDEX audit_passing ON audit (at) WHERE action IN ('code_sent', 'refused');

    -- What operators ban (rules/bans.py).
    CREATE TABLE bans (
        subject TEXT PRIMARY KEY,
        at REAL NOT NULL,
        reason TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Keys for the admin port (rules/admin_keys.py) and invitations (rules/invitations.py) that operators made.
    CREATE TABLE admin_keys (
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        scopes TEXT NOT NULL,
        made_at REAL NOT NULL,
        revoked_at REAL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE invitations (
        number TEXT PRIMARY KEY,
        uses INTEGER NOT NULL,
        expires_at REAL NOT NULL,
        made_at REAL NOT NULL,
        revoked_at REAL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX invitations_made ON invitations (made_at, number);
    CREATE INDEX invitations_expiry ON invitations (expires_at);

    -- Responses to requests with an Idempotency-Key, for their repeats.
    CREATE TABLE idempotent_responses (
        key BLOB PRIMARY KEY,
        body BLOB NOT NULL,
        answer BLOB,
        code_id INTEGER,
        attempt INTEGER,
        leased_until REAL NOT NULL,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotent_responses_expiry ON idempotent_responses (expires_at);

    -- DIDs that lost a credential, and since when; 0 is for the upkeep to fill in. If such a DID has no standing
    -- credential after 30 days, its snapshots are removed.
    CREATE TABLE snapshot_orphans (
        did TEXT PRIMARY KEY,
        since REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_orphans_since ON snapshot_orphans (since);

    -- An identifier's row implies that its session was opened, and a credential's row that it was registered. Such
    -- implied events are added to the audit only when the row changes or is deleted (`in_audit`), so that a
    -- registration is not written twice.
    CREATE VIEW sessions_standing AS
    SELECT id AS identifier_id, created_at AS at, 'session' AS action, channel, key, did
    FROM identifiers WHERE NOT in_audit;
    CREATE VIEW registrations_standing AS
    SELECT c.identifier_id, c.credential, c.created_at AS at, 'registered' AS action, i.channel, i.key, c.did
    FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id WHERE NOT c.in_audit;
    CREATE VIEW history AS
    SELECT at, action, channel, key, did, operator FROM audit
    UNION ALL SELECT at, action, channel, key, did, NULL FROM sessions_standing
    UNION ALL SELECT at, action, channel, key, did, NULL FROM registrations_standing;

    CREATE TRIGGER identifiers_claimed AFTER INSERT ON identifiers WHEN new.stage = 'session' BEGIN
        INSERT INTO ip_counters VALUES (new.ip, 1) ON CONFLICT DO UPDATE SET registrations = registrations + 1;
        UPDATE totals SET value = value + 1 WHERE name = 'registrations';
    END;
    CREATE TRIGGER identifiers_displaced BEFORE UPDATE OF did ON identifiers BEGIN
        INSERT INTO audit (at, action, channel, key, did)
        SELECT at, action, channel, key, did FROM sessions_standing WHERE identifier_id = old.id;
    END;
    CREATE TRIGGER identifiers_released BEFORE DELETE ON identifiers BEGIN
        INSERT INTO audit (at, action, channel, key, did)
        SELECT at, action, channel, key, did FROM sessions_standing WHERE identifier_id = old.id;
        INSERT INTO audit (at, action, channel, key, did)
        SELECT at, action, channel, key, did FROM registrations_standing WHERE identifier_id = old.id;
    END;
    CREATE TRIGGER credentials_removed BEFORE DELETE ON credentials BEGIN
        INSERT INTO audit (at, action, channel, key, did)
        SELECT at, action, channel, key, did FROM registrations_standing WHERE credential = old.credential;
    END;

    CREATE TRIGGER credentials_refused AFTER UPDATE OF confirmation ON credentials
    WHEN old.confirmation <> 'refused' AND new.confirmation = 'refused' BEGIN
        INSERT INTO snapshot_orphans VALUES (new.did, new.settled_at) ON CONFLICT DO UPDATE SET since = excluded.since;
    END;
    CREATE TRIGGER credentials_gone AFTER DELETE ON credentials WHEN old.confirmation <> 'refused' BEGIN
        INSERT INTO snapshot_orphans VALUES (old.did, 0) ON CONFLICT DO UPDATE SET since = excluded.since;
    END;
"""
MIGRATIONS = (_TABLES + SNAPSHOT_TABLES + RECOVERY_TABLES + OUTBOX_TABLES + SPONSOR_TABLES,)
SCHEMA_VERSION = len(MIGRATIONS)
TABLES = (
    "identifiers", "credentials", "codes", "charges", "verifications", "used_attestations", "ip_counters", "totals",
    "leases", "audit", "bans", "admin_keys", "invitations", "idempotent_responses", "snapshot_orphans", "outbox",
    *SNAPSHOT_TABLE_NAMES,    *RECOVERY_TABLE_NAMES, *SPONSOR_TABLE_NAMES,
)  # fmt: skip
