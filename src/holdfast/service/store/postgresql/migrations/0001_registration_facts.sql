-- One registration that is asked for, within a batch. It comes as a JSON object with these members, and with the columns to
-- be stored (store/registration_columns.py), which no function names.
CREATE TYPE holdfast.registration_v1 AS (
    n bigint, shard smallint, channel text, key text, identifier text, did text,
    ip text, ip_shard smallint, network text, network_shard smallint, created_at double precision,
    credential text, credential_shard smallint, confirmation text, signed boolean,
    signature bytea, signature_shard smallint, signature_expires_at double precision,
    reserved boolean, own_below bigint, around_below bigint, credentials_below bigint, unconfirmed_below bigint,
    decided text, decided_on text, bans text[]
);

-- rules/registration.py: RegistrationRule. The move, or NULL where the rule refuses. One of a handle's places is reserved for
-- the address that opened the session.
CREATE FUNCTION holdfast.registration_move_v1(
    held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean, used boolean,
    credentials bigint, unconfirmed bigint, signed bigint, signed_unconfirmed bigint, from_opener boolean,
    channel text, did text, reserved boolean, confirmed boolean, by_key boolean,
    own_below bigint, around_below bigint, credentials_below bigint, unconfirmed_below bigint
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN registered OR used THEN NULL
        WHEN held_by IS NULL THEN
            CASE WHEN NOT reserved AND of_ip < own_below AND of_network < around_below THEN 'claim' END
        WHEN held_by = did THEN CASE
            WHEN (confirmed OR unconfirmed < unconfirmed_below - others) AND credentials < credentials_below - others
                THEN 'continue'
            WHEN by_key AND (confirmed OR signed_unconfirmed < unconfirmed_below) AND signed < credentials_below
                THEN 'replace'
        END
        WHEN channel <> 'handle' AND held_stage = 'session' THEN 'displace'
    END
    FROM (SELECT CASE WHEN by_key OR from_opener OR channel <> 'handle' THEN 0 ELSE 1 END) AS w (others)
$$;

-- What is known of it: after `held_stage` the members of RegistrationFacts in their order, then all of that in one text, to
-- be compared with what was known before, and the move.
CREATE TYPE holdfast.registration_facts_v1 AS (
    n bigint, held_by text, held_stage text, registrations_from_ip bigint, credential_registered boolean,
    attestation_used boolean, registrations_from_network bigint, credentials bigint, unconfirmed bigint, signed bigint,
    signed_unconfirmed bigint, from_opener boolean, banned text, seen text, move text
);

-- The facts of this moment.
CREATE FUNCTION holdfast.registration_facts_v1(batch holdfast.registration_v1[])
RETURNS SETOF holdfast.registration_facts_v1 LANGUAGE sql STABLE AS $$
    SELECT w.n, known.*, known::text, CASE
        WHEN known.banned IS NOT NULL THEN NULL
        WHEN w.decided_on IS NOT NULL THEN CASE WHEN w.decided_on = known::text THEN w.decided END
        WHEN w.own_below IS NOT NULL THEN holdfast.registration_move_v1(
            known.held_by, known.held_stage, known.of_ip, known.of_network, known.registered, known.used,
            known.credentials, known.unconfirmed, known.signed, known.signed_unconfirmed, known.from_opener,
            w.channel, w.did, w.reserved, w.confirmation = 'confirmed', w.signed,
            w.own_below, w.around_below, w.credentials_below, w.unconfirmed_below)
    END
    FROM unnest(batch) AS w
    LEFT JOIN LATERAL (
        SELECT t.did AS held_by, t.stage AS held_stage, t.ip AS opener FROM holdfast.identifiers AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key LIMIT 1
    ) AS claim ON true
    CROSS JOIN LATERAL (
        SELECT count(*) AS credentials, count(*) FILTER (WHERE t.confirmation = 'pending') AS unconfirmed,
            count(*) FILTER (WHERE t.signed) AS signed,
            count(*) FILTER (WHERE t.signed AND t.confirmation = 'pending') AS signed_unconfirmed
        FROM holdfast.credentials AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.confirmation <> 'refused'
    ) AS held
    CROSS JOIN LATERAL (
        SELECT claim.held_by, claim.held_stage,
            coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.ip_shard AND t.ip = w.ip), 0) AS of_ip,
            EXISTS (SELECT 1 FROM holdfast.credential_places AS t
                WHERE t.shard = w.credential_shard AND t.credential = w.credential) AS registered,
            EXISTS (SELECT 1 FROM holdfast.used_attestations AS t
                WHERE t.shard = w.signature_shard AND t.signature = w.signature) AS used,
            coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.network_shard AND t.ip = w.network), 0) AS of_network,
            held.credentials, held.unconfirmed, held.signed, held.signed_unconfirmed,
            coalesce(claim.opener = w.ip, false) AS from_opener,
            (SELECT min(t.subject) FROM holdfast.bans AS t WHERE t.subject = ANY (w.bans)) AS banned
    ) AS known
$$;
