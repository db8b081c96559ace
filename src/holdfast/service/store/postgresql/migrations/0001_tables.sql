-- Every table that is about an identifier begins its key with the identifier's shard (holdfast.rules.shards), and every
-- lookup with the shard of what is looked up. No foreign key and no sequence crosses a shard. Keys compare bytes
-- (collation "C"), so that no upgrade of an operating system's collations can damage an index. Times are seconds since
-- the epoch.

-- While a session or registration stands, its own row is its record; `audit` has the records of rows that changed or went.
-- `in_audit`: whether the audit has this row's record. `signed`: whether the DID's key signed that the address is the DID's.
CREATE TABLE holdfast.identifiers (
    shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL CHECK (channel IN ('handle', 'email', 'sms')),
    key text COLLATE "C" NOT NULL,
    given text NOT NULL,
    did text NOT NULL,
    stage text NOT NULL CHECK (stage IN ('session', 'registered')),
    ip text NOT NULL,
    created_at double precision NOT NULL,
    registered_at double precision,
    in_audit boolean NOT NULL,
    signed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (shard, channel, key)
);
-- A DID's last characters distinguish nearly all DIDs. Only what a person asks about all of a DID looks in every shard.
CREATE INDEX identifiers_created ON holdfast.identifiers (created_at);
CREATE INDEX identifiers_did_end ON holdfast.identifiers (right(did, 12));
-- What operators look for by the beginning of a name.
CREATE INDEX identifiers_name ON holdfast.identifiers (channel, key);

-- Registrations of one identifier, under the identifier's shard. `signed`: whether the DID's key signed the request that
-- registered the credential.
CREATE TABLE holdfast.credentials (
    shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    credential text COLLATE "C" NOT NULL,
    credential_shard smallint NOT NULL,
    identifier text NOT NULL,
    did text NOT NULL,
    tx_hash text NOT NULL,
    block_number bigint,
    smart_account text,
    created_at double precision NOT NULL,
    asked integer NOT NULL DEFAULT 0,
    ask_at double precision NOT NULL,
    confirmation text NOT NULL CHECK (confirmation IN ('pending', 'confirmed', 'refused')),
    settled_at double precision,
    in_audit boolean NOT NULL,
    signed boolean NOT NULL,
    PRIMARY KEY (shard, channel, key, credential)
);
CREATE INDEX credentials_pending ON holdfast.credentials (ask_at) WHERE confirmation = 'pending';
CREATE INDEX credentials_refused ON holdfast.credentials (settled_at) WHERE confirmation = 'refused';

-- Where the registration of a credential is, under the credential's own shard; none for what the chain refused. This
-- key makes a credential unique.
CREATE TABLE holdfast.credential_places (
    shard smallint NOT NULL,
    credential text COLLATE "C" NOT NULL,
    identifier_shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (shard, credential)
);

-- Which DIDs are registered: the identifiers for which a DID has had a credential, under the shard of the DID. A row says
-- where to look, and may outlive the credential.
CREATE TABLE holdfast.did_identifiers (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    identifier_shard smallint NOT NULL,
    PRIMARY KEY (shard, did, channel, key)
);

CREATE TABLE holdfast.codes (
    shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    digest bytea NOT NULL,
    sent_at double precision NOT NULL,
    expires_at double precision NOT NULL,
    ip text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    attempts_by_others integer NOT NULL DEFAULT 0,
    same_until double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (shard, channel, key)
) WITH (fillfactor = 70);
CREATE INDEX codes_expiry ON holdfast.codes (expires_at);

-- Sliding windows: one row for each subject, which stays small, however many events it counts (decision 0010). `times` and
-- `counts` are its entries: the time of an entry's latest event, and how many events it has. `ids` and `id_ats` are the
-- latest events that can be given back, with their times.
CREATE TABLE holdfast.windows (
    shard smallint NOT NULL,
    what text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    ids bigint[] NOT NULL DEFAULT '{}',
    times double precision[] NOT NULL DEFAULT '{}',
    last_at double precision NOT NULL DEFAULT 0,
    counts integer[] NOT NULL DEFAULT '{}',
    id_ats double precision[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (shard, what, subject)
) WITH (fillfactor = 70);
CREATE INDEX windows_last ON holdfast.windows (last_at);

CREATE TABLE holdfast.verifications (
    shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    verified_at double precision NOT NULL,
    PRIMARY KEY (shard, channel, key)
);

CREATE TABLE holdfast.used_attestations (
    shard smallint NOT NULL,
    signature bytea NOT NULL,
    expires_at double precision NOT NULL,
    PRIMARY KEY (shard, signature)
);
CREATE INDEX used_attestations_expiry ON holdfast.used_attestations (expires_at);

-- Sessions ever created from an address, or from the network around one.
CREATE TABLE holdfast.ip_counters (
    shard smallint NOT NULL,
    ip text COLLATE "C" NOT NULL,
    registrations bigint NOT NULL,
    PRIMARY KEY (shard, ip)
) WITH (fillfactor = 70);

-- A total is the sum of its slots. A transaction adds to one slot chosen at random, so none of them is hot.
CREATE TABLE holdfast.totals (
    name text COLLATE "C" NOT NULL,
    slot smallint NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (name, slot)
) WITH (fillfactor = 50);

CREATE TABLE holdfast.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    expires_at double precision NOT NULL
);

-- What operators ban (rules/bans.py).
CREATE TABLE holdfast.bans (
    subject text COLLATE "C" PRIMARY KEY,
    at double precision NOT NULL,
    reason text NOT NULL
);

-- Keys for the admin port (rules/admin_keys.py) and invitations (rules/invitations.py) that operators made.
CREATE TABLE holdfast.admin_keys (
    name text COLLATE "C" PRIMARY KEY,
    digest bytea NOT NULL,
    scopes text NOT NULL,
    made_at double precision NOT NULL,
    revoked_at double precision
);
CREATE TABLE holdfast.invitations (
    number text COLLATE "C" PRIMARY KEY,
    uses integer NOT NULL,
    expires_at double precision NOT NULL,
    made_at double precision NOT NULL,
    revoked_at double precision
);
CREATE INDEX invitations_made ON holdfast.invitations (made_at, number);
CREATE INDEX invitations_expiry ON holdfast.invitations (expires_at);

-- Answers to requests that name themselves (Idempotency-Key), for their repeats, under the shard of the key.
CREATE TABLE holdfast.idempotent_responses (
    shard smallint NOT NULL,
    key bytea NOT NULL,
    body bytea NOT NULL,
    answer bytea,
    code_id bigint,
    attempt bigint,
    leased_until double precision NOT NULL,
    expires_at double precision NOT NULL,
    PRIMARY KEY (shard, key)
);
CREATE INDEX idempotent_responses_expiry ON holdfast.idempotent_responses (expires_at);

-- RFC 9562, UUIDv7 with method 3 of section 6.2: ordered by the database's clock to a microsecond. The time in units of
-- 1/4096 ms has 48 bits of milliseconds before 12 of their fraction; the version's digit goes between.
CREATE FUNCTION holdfast.new_id_v1() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (
        overlay(
            lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 512 / 125), 15, '0')
            PLACING '7' FROM 13 FOR 0)
        || substr(replace(gen_random_uuid()::text, '-', ''), 17)
    )::uuid
$$;

CREATE TABLE holdfast.audit (
    shard smallint NOT NULL,
    channel text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    id uuid NOT NULL DEFAULT holdfast.new_id_v1(),
    at double precision NOT NULL,
    action text NOT NULL,
    did text,
    -- Who did it, if an operator did: what the transaction has set. Also in rows that it only moved into the audit.
    operator text DEFAULT nullif(current_setting('holdfast.operator', true), ''),
    PRIMARY KEY (shard, channel, key, id)
);
CREATE INDEX audit_acts ON holdfast.audit (at, id)
    WHERE operator IS NOT NULL AND action NOT IN ('session', 'registered');
CREATE INDEX audit_did_end ON holdfast.audit (right(did, 12)) WHERE did IS NOT NULL;
CREATE INDEX audit_named ON holdfast.audit (at) WHERE left(key, 5) <> 'hash ';
CREATE INDEX audit_passing ON holdfast.audit (at) WHERE action IN ('code_sent', 'refused');

-- What happened to identifiers: the audit, and what standing rows tell.
CREATE VIEW holdfast.history AS
SELECT shard, channel, key, id, at, action, did,
    CASE WHEN action NOT IN ('session', 'registered') THEN operator END AS operator FROM holdfast.audit
UNION ALL SELECT shard, channel, key, NULL, created_at, 'session', did, NULL FROM holdfast.identifiers WHERE NOT in_audit
UNION ALL SELECT shard, channel, key, NULL, created_at, 'registered', did, NULL FROM holdfast.credentials WHERE NOT in_audit;
