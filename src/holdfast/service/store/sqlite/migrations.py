"""The embedded store's tables, as migrations. Each migration brings the file from one schema version to the next."""

from __future__ import annotations

from holdfast.service.store.sqlite.snapshot_schema import SNAPSHOT_TABLE_NAMES, SNAPSHOT_TABLES

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
    # 2: `charges` replaces `sends`; codes have the requester's address, and credentials have the time of their next
    # check.
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
    # 3: hashes as bytes. An identifier's row implies that its session was opened, and a credential's row that it was
    # registered. Such implied events are added to the audit only when the row changes or is deleted (`in_audit`), so
    # that a registration is not written twice.
    """
    ALTER TABLE identifiers ADD COLUMN in_audit INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE credentials_3 (
        id INTEGER PRIMARY KEY,
        credential TEXT NOT NULL,
        identifier_id INTEGER NOT NULL REFERENCES identifiers (id) ON DELETE CASCADE,
        identifier TEXT NOT NULL,
        channel TEXT NOT NULL,
        did TEXT NOT NULL,
        tx_hash ANY NOT NULL, -- bytes, or as text what is no hash (hashes.py)
        block_number INTEGER,
        smart_account TEXT,
        created_at REAL NOT NULL,
        confirmation TEXT NOT NULL CHECK (confirmation IN ('pending', 'confirmed', 'refused')),
        settled_at REAL,
        asked INTEGER NOT NULL DEFAULT 0,
        ask_at REAL NOT NULL DEFAULT 0,
        in_audit INTEGER NOT NULL
    ) STRICT;
    INSERT INTO credentials_3 SELECT id, credential, identifier_id, identifier, channel, did, pack_hash(tx_hash),
        block_number, smart_account, created_at, confirmation, settled_at, asked, ask_at, 1 FROM credentials;
    DROP TABLE credentials;
    ALTER TABLE credentials_3 RENAME TO credentials;
    CREATE UNIQUE INDEX credentials_credential ON credentials (credential);
    CREATE INDEX credentials_identifier ON credentials (identifier_id);
    CREATE INDEX credentials_pending ON credentials (ask_at) WHERE confirmation = 'pending';
    CREATE INDEX credentials_refused ON credentials (settled_at) WHERE confirmation = 'refused';

    CREATE VIEW sessions_standing AS
    SELECT id AS identifier_id, created_at AS at, 'session' AS action, channel, key, did
    FROM identifiers WHERE NOT in_audit;
    CREATE VIEW registrations_standing AS
    SELECT c.identifier_id, c.credential, c.created_at AS at, 'registered' AS action, i.channel, i.key, c.did
    FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id WHERE NOT c.in_audit;
    CREATE VIEW history AS
    SELECT at, action, channel, key, did FROM audit
    UNION ALL SELECT at, action, channel, key, did FROM sessions_standing
    UNION ALL SELECT at, action, channel, key, did FROM registrations_standing;

    DROP TRIGGER identifiers_claimed;
    CREATE TRIGGER identifiers_claimed AFTER INSERT ON identifiers BEGIN
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
    """,
    SNAPSHOT_TABLES,
    # 5: stored responses to requests with an Idempotency-Key.
    """
    CREATE TABLE kept_answers (
        key BLOB PRIMARY KEY,
        body BLOB NOT NULL,
        answer BLOB,
        code_id INTEGER,
        attempt INTEGER,
        leased_until REAL NOT NULL,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX kept_answers_expiry ON kept_answers (expires_at);
    """,
    # 6: an index of the DIDs' last characters, which distinguish nearly all DIDs in a sixth of the bytes.
    """
    DROP INDEX credentials_did;
    CREATE INDEX credentials_did_end ON credentials (substr(did, -12));
    """,
    # 7: whether the DID's key signed the request that registered a credential.
    """
    ALTER TABLE credentials ADD COLUMN signed INTEGER NOT NULL DEFAULT 0;
    """,
    # 8: how long a record may be cached is stored with it; for earlier records it is a minute.
    """
    ALTER TABLE snapshot_names ADD COLUMN ttl_ns INTEGER NOT NULL DEFAULT 60000000000;
    """,
    # 9: DIDs that lost a credential, and since when; 0 is for the upkeep to fill in. If such a DID has no standing
    # credential after 30 days, its snapshots are removed.
    """
    CREATE TABLE snapshot_orphans (
        did TEXT PRIMARY KEY,
        since REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_orphans_since ON snapshot_orphans (since);
    INSERT INTO snapshot_orphans SELECT did, 0 FROM (
        SELECT did FROM snapshot_roots UNION SELECT did FROM snapshot_pins);
    CREATE TRIGGER credentials_refused AFTER UPDATE OF confirmation ON credentials
    WHEN old.confirmation <> 'refused' AND new.confirmation = 'refused' BEGIN
        INSERT INTO snapshot_orphans VALUES (new.did, new.settled_at) ON CONFLICT DO UPDATE SET since = excluded.since;
    END;
    CREATE TRIGGER credentials_gone AFTER DELETE ON credentials WHEN old.confirmation <> 'refused' BEGIN
        INSERT INTO snapshot_orphans VALUES (old.did, 0) ON CONFLICT DO UPDATE SET since = excluded.since;
    END;
    """,
)
SCHEMA_VERSION = len(MIGRATIONS)
TABLES = (
    "identifiers", "credentials", "codes", "charges", "verifications", "used_attestations", "ip_counters", "totals",
    "leases", "audit", *SNAPSHOT_TABLE_NAMES, "kept_answers",
    "snapshot_orphans",
)  # fmt: skip
