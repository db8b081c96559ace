-- The functions of 0001_one_server.sql for Citus, which refuses FOR UPDATE over several of its shards, and joins tables on
-- `shard` only.

CREATE OR REPLACE FUNCTION holdfast.one_server_v1() RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT false $$;

-- Waits until no other transaction has the turn of any of these rows of a table, and takes it until the commit. A statement
-- that inserts or updates several rows writes to all workers at once, so that two such statements would lock two rows in
-- opposite orders. One row needs no turn. The locks are the coordinator's, to which all nodes connect.
CREATE FUNCTION holdfast.take_turns_v1(of_table text, names text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(names) > 1 THEN
        PERFORM pg_advisory_xact_lock(w.turn) FROM (
            SELECT DISTINCT hashtextextended(of_table || ' ' || n, 0) AS turn FROM unnest(names) AS n
            WHERE n IS NOT NULL ORDER BY 1
        ) AS w;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.lock_identifiers_v1(shards smallint[], channels text[], keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT w.* FROM unnest(shards, channels, keys) AS w (shard, channel, key) ORDER BY 1, 2, 3 LOOP
        PERFORM 1 FROM holdfast.identifiers AS t
        WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key FOR UPDATE;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.lock_windows_v1(shards smallint[], kinds text[], subjects text[])
RETURNS SETOF holdfast.windows LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT DISTINCT w.* FROM unnest(shards, kinds, subjects) AS w (shard, what, subject) ORDER BY 1, 2, 3
    LOOP
        RETURN QUERY SELECT t.* FROM holdfast.windows AS t
        WHERE t.shard = one.shard AND t.what = one.what AND t.subject = one.subject FOR UPDATE;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.lock_codes_v1(shards smallint[], channels text[], keys text[])
RETURNS SETOF holdfast.codes LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT DISTINCT w.* FROM unnest(shards, channels, keys) AS w (shard, channel, key) ORDER BY 1, 2, 3
    LOOP
        RETURN QUERY SELECT t.* FROM holdfast.codes AS t
        WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key FOR UPDATE;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.registration_known_v1(batch holdfast.registration_v1[])
RETURNS TABLE (asked holdfast.registration_v1, known holdfast.registration_known_v1) LANGUAGE plpgsql STABLE AS $$
DECLARE
    shards smallint[];
    channels text[];
    keys text[];
    ip_shards smallint[];
    ips text[];
    credential_shards smallint[];
    credential_ids text[];
    signature_shards smallint[];
    signatures bytea[];
BEGIN
    SELECT array_agg(w.shard), array_agg(w.channel), array_agg(w.key),
        array_agg(w.ip_shard) || array_agg(w.network_shard), array_agg(w.ip) || array_agg(w.network),
        array_agg(w.credential_shard), array_agg(w.credential), array_agg(w.signature_shard), array_agg(w.signature)
    INTO shards, channels, keys, ip_shards, ips, credential_shards, credential_ids, signature_shards, signatures
    FROM unnest(batch) AS w;

    RETURN QUERY WITH claim AS MATERIALIZED (
        SELECT w.nth, t.did, t.stage, t.ip FROM holdfast.identifiers AS t
        JOIN unnest(shards, channels, keys) WITH ORDINALITY AS w (shard, channel, key, nth) USING (shard, channel, key)
        WHERE t.shard = ANY (shards)
    ), held AS MATERIALIZED (
        SELECT w.nth, count(*) AS credentials, count(*) FILTER (WHERE t.confirmation = 'pending') AS unconfirmed,
            count(*) FILTER (WHERE t.signed) AS signed,
            count(*) FILTER (WHERE t.signed AND t.confirmation = 'pending') AS signed_unconfirmed
        FROM holdfast.credentials AS t
        JOIN unnest(shards, channels, keys) WITH ORDINALITY AS w (shard, channel, key, nth) USING (shard, channel, key)
        WHERE t.shard = ANY (shards) AND t.confirmation <> 'refused' GROUP BY w.nth
    ), counted AS MATERIALIZED (
        SELECT w.nth, t.registrations FROM holdfast.ip_counters AS t
        JOIN unnest(ip_shards, ips) WITH ORDINALITY AS w (shard, ip, nth) USING (shard, ip)
        WHERE t.shard = ANY (ip_shards)
    ), registered AS MATERIALIZED (
        SELECT w.nth FROM holdfast.credential_places AS t
        JOIN unnest(credential_shards, credential_ids) WITH ORDINALITY AS w (shard, credential, nth)
            USING (shard, credential)
        WHERE t.shard = ANY (credential_shards)
    ), used AS MATERIALIZED (
        SELECT w.nth FROM holdfast.used_attestations AS t
        JOIN unnest(signature_shards, signatures) WITH ORDINALITY AS w (shard, signature, nth) USING (shard, signature)
        WHERE t.shard = ANY (signature_shards)
    )
    SELECT batch[n.nth], ROW(
        claim.did, claim.stage, coalesce(own.registrations, 0), registered.nth IS NOT NULL, used.nth IS NOT NULL,
        coalesce(around.registrations, 0), coalesce(held.credentials, 0), coalesce(held.unconfirmed, 0),
        coalesce(held.signed, 0), coalesce(held.signed_unconfirmed, 0), coalesce(claim.ip = ips[n.nth], false),
        (SELECT min(t.subject) FROM holdfast.bans AS t WHERE t.subject = ANY ((batch[n.nth]).bans))
    )::holdfast.registration_known_v1
    FROM generate_series(1, cardinality(batch)) AS n (nth)
    LEFT JOIN claim ON claim.nth = n.nth LEFT JOIN held ON held.nth = n.nth
    LEFT JOIN counted AS own ON own.nth = n.nth LEFT JOIN counted AS around ON around.nth = n.nth + cardinality(batch)
    LEFT JOIN registered ON registered.nth = n.nth LEFT JOIN used ON used.nth = n.nth;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.find_credentials_v1(shards smallint[], credential_ids text[])
RETURNS TABLE (n bigint, found holdfast.credentials) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    ns bigint[];
    identifier_shards smallint[];
    channels text[];
    keys text[];
    found_ids text[];
BEGIN
    SELECT array_agg(w.n), array_agg(p.identifier_shard), array_agg(p.channel), array_agg(p.key), array_agg(p.credential)
    INTO ns, identifier_shards, channels, keys, found_ids
    FROM holdfast.credential_places AS p
    JOIN unnest(shards, credential_ids) WITH ORDINALITY AS w (shard, credential, n) USING (shard, credential)
    WHERE p.shard = ANY (shards);
    IF ns IS NOT NULL THEN
        RETURN QUERY SELECT w.n, c FROM holdfast.credentials AS c
        JOIN unnest(identifier_shards, channels, keys, found_ids, ns) AS w (shard, channel, key, credential, n)
            USING (shard, channel, key, credential)
        WHERE c.shard = ANY (identifier_shards);
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION holdfast.look_at_windows_v1(shards smallint[], kinds text[], subjects text[])
RETURNS TABLE (nth bigint, times double precision[], counts integer[]) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT w.nth, t.times, t.counts FROM holdfast.windows AS t
    JOIN unnest(shards, kinds, subjects) WITH ORDINALITY AS w (shard, what, subject, nth) USING (shard, what, subject)
    WHERE t.shard = ANY (shards);
END
$$;

CREATE OR REPLACE FUNCTION holdfast.session_facts_v1(
    shards smallint[], channels text[], keys text[], ips text[], ip_shards smallint[], networks text[],
    network_shards smallint[], own_froms bigint[], own_belows bigint[], around_froms bigint[], around_belows bigint[]
) RETURNS TABLE (n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH claim AS MATERIALIZED (
        SELECT w.n, t.did, t.stage FROM holdfast.identifiers AS t
        JOIN unnest(shards, channels, keys) WITH ORDINALITY AS w (shard, channel, key, n) USING (shard, channel, key)
        WHERE t.shard = ANY (shards)
    ), own AS MATERIALIZED (
        SELECT w.n, t.registrations FROM holdfast.ip_counters AS t
        JOIN unnest(ip_shards, ips) WITH ORDINALITY AS w (shard, ip, n) USING (shard, ip) WHERE t.shard = ANY (ip_shards)
    ), around AS MATERIALIZED (
        SELECT w.n, t.registrations FROM holdfast.ip_counters AS t
        JOIN unnest(network_shards, networks) WITH ORDINALITY AS w (shard, ip, n) USING (shard, ip)
        WHERE t.shard = ANY (network_shards)
    )
    SELECT w.n, holdfast.session_admits_v1(claim.did IS NOT NULL, known.of_ip, known.of_network,
        w.own_from, w.own_below, w.around_from, w.around_below), claim.did, claim.stage, known.of_ip, known.of_network
    FROM unnest(own_froms, own_belows, around_froms, around_belows) WITH ORDINALITY
        AS w (own_from, own_below, around_from, around_below, n)
    LEFT JOIN claim ON claim.n = w.n LEFT JOIN own ON own.n = w.n LEFT JOIN around ON around.n = w.n
    CROSS JOIN LATERAL (
        SELECT coalesce(own.registrations, 0) AS of_ip, coalesce(around.registrations, 0) AS of_network
    ) AS known;
END
$$;

-- Upkeep passes over rows that others have locked; here it waits for them.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT pg_catalog.pg_get_functiondef(p.oid) AS definition FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'holdfast'::regnamespace AND p.prosrc LIKE '%LIMIT most FOR UPDATE SKIP LOCKED%'
    LOOP
        EXECUTE replace(one.definition, 'LIMIT most FOR UPDATE SKIP LOCKED', 'LIMIT most');
    END LOOP;
END
$$;
