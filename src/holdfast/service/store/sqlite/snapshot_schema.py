"""Tables for stored snapshots.

A block's object is named after its CID and row number. Numbers are never used twice, so a new upload of the same block
never writes to an object that is about to be deleted.
"""

from __future__ import annotations

SNAPSHOT_TABLES = """
    CREATE TABLE snapshot_blocks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        cid TEXT NOT NULL,
        size INTEGER NOT NULL,
        stored INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE UNIQUE INDEX snapshot_blocks_cid ON snapshot_blocks (cid);

    CREATE TABLE snapshot_roots (
        id INTEGER PRIMARY KEY,
        cid TEXT NOT NULL,
        did TEXT NOT NULL,
        size INTEGER NOT NULL,
        publisher TEXT,
        held_until REAL NOT NULL,
        created_at REAL NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX snapshot_roots_cid ON snapshot_roots (cid);
    CREATE INDEX snapshot_roots_did ON snapshot_roots (did);
    CREATE INDEX snapshot_roots_held ON snapshot_roots (held_until) WHERE held_until > 0;

    CREATE TABLE snapshot_links (
        root_id INTEGER NOT NULL REFERENCES snapshot_roots (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        block_id INTEGER NOT NULL REFERENCES snapshot_blocks (id),
        PRIMARY KEY (root_id, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_links_block ON snapshot_links (block_id);

    CREATE TABLE snapshot_uploads (
        upload TEXT PRIMARY KEY,
        did TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_uploads_did ON snapshot_uploads (did);

    CREATE TABLE snapshot_upload_blocks (
        upload TEXT NOT NULL REFERENCES snapshot_uploads (upload) ON DELETE CASCADE,
        block_id INTEGER NOT NULL REFERENCES snapshot_blocks (id),
        PRIMARY KEY (upload, block_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_upload_blocks_block ON snapshot_upload_blocks (block_id);

    CREATE TABLE snapshot_pins (
        id INTEGER PRIMARY KEY,
        request_id TEXT NOT NULL,
        did TEXT NOT NULL,
        cid TEXT NOT NULL,
        name TEXT,
        origins TEXT NOT NULL,
        meta TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'pinning', 'pinned', 'failed')),
        created_us INTEGER NOT NULL,
        by_import INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX snapshot_pins_request ON snapshot_pins (request_id);
    CREATE UNIQUE INDEX snapshot_pins_did ON snapshot_pins (did, created_us);
    CREATE INDEX snapshot_pins_cid ON snapshot_pins (cid);
    CREATE INDEX snapshot_pins_passing ON snapshot_pins (state, created_us) WHERE state IN ('queued', 'failed');

    CREATE TABLE snapshot_tokens (
        token BLOB NOT NULL,
        kind TEXT NOT NULL,
        what TEXT NOT NULL,
        made TEXT NOT NULL,
        until REAL NOT NULL,
        PRIMARY KEY (token, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_tokens_until ON snapshot_tokens (until);

    CREATE TABLE snapshot_revocations (
        did TEXT NOT NULL,
        cid TEXT NOT NULL,
        before REAL NOT NULL,
        until REAL NOT NULL,
        PRIMARY KEY (did, cid)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX snapshot_revocations_until ON snapshot_revocations (until);

    CREATE TABLE snapshot_names (
        name TEXT PRIMARY KEY,
        did TEXT NOT NULL,
        root TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        validity_ns TEXT NOT NULL,
        record BLOB NOT NULL,
        updated_at REAL NOT NULL,
        ttl_ns INTEGER NOT NULL -- stored, so that nothing parses the record when it is read
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX snapshot_names_did_end ON snapshot_names (substr(did, -12));

    CREATE TABLE snapshot_loose (
        block_id INTEGER PRIMARY KEY
    ) STRICT;

    CREATE TABLE snapshot_garbage (
        object TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;

    -- Only blocks that have lost a holder need to be looked at.
    CREATE TRIGGER snapshot_links_gone AFTER DELETE ON snapshot_links BEGIN
        INSERT OR IGNORE INTO snapshot_loose VALUES (old.block_id);
    END;
    CREATE TRIGGER snapshot_upload_blocks_gone AFTER DELETE ON snapshot_upload_blocks BEGIN
        INSERT OR IGNORE INTO snapshot_loose VALUES (old.block_id);
    END;
"""
SNAPSHOT_TABLE_NAMES = (
    "snapshot_blocks", "snapshot_roots", "snapshot_links", "snapshot_uploads", "snapshot_upload_blocks",
    "snapshot_pins", "snapshot_tokens", "snapshot_revocations", "snapshot_names", "snapshot_loose", "snapshot_garbage",
)  # fmt: skip
