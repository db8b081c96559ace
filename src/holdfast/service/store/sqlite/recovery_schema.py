"""The embedded store's tables of recoveries."""

from __future__ import annotations

RECOVERY_TABLE_NAMES = ("recovery_requests", "recovery_mails")
RECOVERY_TABLES = """
    -- Requests for the service's signature as a guardian. Without confirmed_at, the code has not been entered yet.
    CREATE TABLE recovery_requests (
        request TEXT PRIMARY KEY,
        did TEXT NOT NULL,
        channel TEXT NOT NULL,
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        owners TEXT NOT NULL,
        nonce INTEGER NOT NULL,
        digest BLOB NOT NULL,
        asked_at REAL NOT NULL,
        expires_at REAL NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        confirmed_at REAL,
        ready_at REAL,
        signed_at REAL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX recovery_requests_account ON recovery_requests (account) WHERE confirmed_at IS NOT NULL;
    CREATE INDEX recovery_requests_did_end ON recovery_requests (substr(did, -12));
    CREATE INDEX recovery_requests_asked ON recovery_requests (asked_at);

    -- Who states an account, for mails about its recovery.
    CREATE INDEX credentials_account_end ON credentials (substr(lower(smart_account), -12))
    WHERE signed AND smart_account IS NOT NULL;

    -- Mails about recoveries: one for each recovery and address.
    CREATE TABLE recovery_mails (
        name TEXT NOT NULL,
        recipient TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('asked', 'started', 'finished')),
        did TEXT NOT NULL,
        account TEXT NOT NULL,
        until REAL NOT NULL,
        request TEXT NOT NULL,
        noted_at REAL NOT NULL,
        due_at REAL NOT NULL,
        sent_at REAL,
        PRIMARY KEY (name, recipient)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX recovery_mails_due ON recovery_mails (due_at) WHERE sent_at IS NULL;
    CREATE INDEX recovery_mails_did_end ON recovery_mails (substr(did, -12));
    CREATE INDEX recovery_mails_noted ON recovery_mails (noted_at);
"""
