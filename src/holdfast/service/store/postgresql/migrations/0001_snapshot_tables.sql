-- Kept snapshots. What a DID keeps lies under the DID's shard, and what anyone looks up by a CID, a name or a token under
-- the shard of that. All writes about the DIDs of one shard take their turn at its row in snapshot_shards, which also
-- counts them: 4096 rows, none of them hot.

CREATE TABLE holdfast.snapshot_shards (
    shard smallint NOT NULL,
    snapshots bigint NOT NULL DEFAULT 0,
    pins bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (shard)
) WITH (fillfactor = 50);

-- A snapshot of a DID: `blocks` are the CIDs of its blocks in the root's order, the root first.
CREATE TABLE holdfast.snapshot_roots (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    cid text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    publisher text,
    held_until double precision NOT NULL,
    created_at double precision NOT NULL,
    blocks text[] NOT NULL,
    PRIMARY KEY (shard, did, cid)
);
CREATE INDEX snapshot_roots_held ON holdfast.snapshot_roots (held_until) WHERE held_until > 0;

-- A block of a DID. Its object is named by its CID and `number`, which is random, so no name is used twice.
CREATE TABLE holdfast.snapshot_blocks (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    cid text COLLATE "C" NOT NULL,
    cid_shard smallint NOT NULL,
    number bigint NOT NULL,
    size bigint NOT NULL,
    stored boolean NOT NULL DEFAULT false,
    PRIMARY KEY (shard, did, cid)
);

-- Where anyone finds a block of a kept snapshot, under the shard of its CID.
CREATE TABLE holdfast.snapshot_places (
    shard smallint NOT NULL,
    cid text COLLATE "C" NOT NULL,
    did text COLLATE "C" NOT NULL,
    did_shard smallint NOT NULL,
    number bigint NOT NULL,
    size bigint NOT NULL,
    PRIMARY KEY (shard, cid, did)
);

CREATE TABLE holdfast.snapshot_uploads (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    upload text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    expires_at double precision NOT NULL,
    blocks text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (shard, did, upload)
);
CREATE INDEX snapshot_uploads_expiry ON holdfast.snapshot_uploads (expires_at);

-- `name` is UTF-8, for it may have characters that a text cannot have here; `origins` and `meta` are JSON.
CREATE TABLE holdfast.snapshot_pins (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    cid text COLLATE "C" NOT NULL,
    name bytea,
    origins text NOT NULL,
    meta text NOT NULL,
    state text NOT NULL CHECK (state IN ('queued', 'pinning', 'pinned', 'failed')),
    created_us bigint NOT NULL,
    by_import boolean NOT NULL,
    PRIMARY KEY (shard, did, request_id)
);
CREATE INDEX snapshot_pins_created ON holdfast.snapshot_pins (shard, did, created_us);
CREATE INDEX snapshot_pins_passing ON holdfast.snapshot_pins (state, created_us) WHERE state IN ('queued', 'failed');

-- What a token made, under the shard of its digest.
CREATE TABLE holdfast.snapshot_tokens (
    shard smallint NOT NULL,
    token bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    what text NOT NULL,
    made text NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (shard, token, kind)
);
CREATE INDEX snapshot_tokens_until ON holdfast.snapshot_tokens (until);

-- `cid` is that of a token, or empty for every token that was issued up to `before`.
CREATE TABLE holdfast.snapshot_revocations (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    cid text COLLATE "C" NOT NULL,
    before double precision NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (shard, did, cid)
);
CREATE INDEX snapshot_revocations_until ON holdfast.snapshot_revocations (until);

-- The newest record of each name, under the name's shard. `validity_ns` is decimal: it may exceed a bigint. `ttl_ns`, how
-- long a record may be cached, is stored so that nothing parses the record when it is read.
CREATE TABLE holdfast.snapshot_names (
    shard smallint NOT NULL,
    name text COLLATE "C" NOT NULL,
    did text NOT NULL,
    root text NOT NULL,
    sequence bigint NOT NULL,
    validity_ns text NOT NULL,
    record bytea NOT NULL,
    updated_at double precision NOT NULL,
    ttl_ns bigint NOT NULL,
    PRIMARY KEY (shard, name)
);
CREATE INDEX snapshot_names_did_end ON holdfast.snapshot_names (right(did, 12));

-- Objects to be deleted, under the shard of their block's CID.
CREATE TABLE holdfast.snapshot_garbage (
    shard smallint NOT NULL,
    object text COLLATE "C" NOT NULL,
    PRIMARY KEY (shard, object)
);

-- DIDs that lost a credential, and since when; 0 is for the upkeep to fill in. If such a DID has no standing credential
-- after 30 days, its snapshots go.
CREATE TABLE holdfast.snapshot_orphans (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    since double precision NOT NULL,
    PRIMARY KEY (shard, did)
);
CREATE INDEX snapshot_orphans_since ON holdfast.snapshot_orphans (since);
