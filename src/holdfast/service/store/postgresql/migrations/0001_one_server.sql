-- What one PostgreSQL server does at once, and Citus only in parts, by 0001_citus.sql: locks on several rows, in the order
-- of their keys, and look-ups that lead from one shard to another. The server plans the functions in SQL within the
-- statements that call them.

-- Whether a statement need not name the shards that it is about, and locks the rows that it inserts in the order that it
-- states. On Citus, take_turns_v1 of 0001_citus.sql precedes it.
CREATE FUNCTION holdfast.one_server_v1() RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT true $$;

CREATE FUNCTION holdfast.lock_identifiers_v1(shards smallint[], channels text[], keys text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM 1 FROM (
        SELECT 1 FROM holdfast.identifiers AS t
        JOIN unnest(shards, channels, keys) AS w (shard, channel, key) USING (shard, channel, key)
        ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
    ) AS locked;
END
$$;

CREATE FUNCTION holdfast.lock_windows_v1(shards smallint[], kinds text[], subjects text[])
RETURNS SETOF holdfast.windows LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN QUERY SELECT t.* FROM holdfast.windows AS t JOIN (
        SELECT DISTINCT u.shard, u.what, u.subject FROM unnest(shards, kinds, subjects) AS u (shard, what, subject)
    ) AS w USING (shard, what, subject)
    ORDER BY t.shard, t.what, t.subject FOR UPDATE OF t;
END
$$;

CREATE FUNCTION holdfast.lock_codes_v1(shards smallint[], channels text[], keys text[]) RETURNS SETOF holdfast.codes
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN QUERY SELECT t.* FROM holdfast.codes AS t JOIN (
        SELECT DISTINCT u.shard, u.channel, u.key FROM unnest(shards, channels, keys) AS u (shard, channel, key)
    ) AS w USING (shard, channel, key)
    ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t;
END
$$;

-- Windows that exist, each with its number in the arrays, from 1.
CREATE FUNCTION holdfast.look_at_windows_v1(shards smallint[], kinds text[], subjects text[])
RETURNS TABLE (nth bigint, times double precision[], counts integer[]) LANGUAGE sql STABLE AS $$
    SELECT w.nth, t.times, t.counts
    FROM unnest(shards, kinds, subjects) WITH ORDINALITY AS w (shard, what, subject, nth)
    CROSS JOIN LATERAL (
        SELECT u.times, u.counts FROM holdfast.windows AS u
        WHERE u.shard = w.shard AND u.what = w.what AND u.subject = w.subject LIMIT 1
    ) AS t
$$;

-- What is known of each registration that is asked for.
CREATE FUNCTION holdfast.registration_known_v1(batch holdfast.registration_v1[])
RETURNS TABLE (asked holdfast.registration_v1, known holdfast.registration_known_v1) LANGUAGE sql STABLE AS $$
    SELECT w, ROW(
        claim.held_by, claim.held_stage,
        coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
            WHERE t.shard = w.ip_shard AND t.ip = w.ip), 0),
        EXISTS (SELECT 1 FROM holdfast.credential_places AS t
            WHERE t.shard = w.credential_shard AND t.credential = w.credential),
        EXISTS (SELECT 1 FROM holdfast.used_attestations AS t
            WHERE t.shard = w.signature_shard AND t.signature = w.signature),
        coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
            WHERE t.shard = w.network_shard AND t.ip = w.network), 0),
        held.credentials, held.unconfirmed, held.signed, held.signed_unconfirmed,
        coalesce(claim.opener = w.ip, false),
        (SELECT min(t.subject) FROM holdfast.bans AS t WHERE t.subject = ANY (w.bans))
    )::holdfast.registration_known_v1
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
$$;

-- The registrations of credentials, each with the credential's number in the arrays, from 1.
CREATE FUNCTION holdfast.find_credentials_v1(shards smallint[], credential_ids text[])
RETURNS TABLE (n bigint, found holdfast.credentials) LANGUAGE sql STABLE AS $$
    SELECT w.n, ROW(c.*)::holdfast.credentials FROM unnest(shards, credential_ids) WITH ORDINALITY AS w (shard, credential, n)
    CROSS JOIN LATERAL (
        SELECT t.identifier_shard, t.channel, t.key FROM holdfast.credential_places AS t
        WHERE t.shard = w.shard AND t.credential = w.credential LIMIT 1
    ) AS p
    CROSS JOIN LATERAL (
        SELECT t.* FROM holdfast.credentials AS t
        WHERE t.shard = p.identifier_shard AND t.channel = p.channel AND t.key = p.key AND t.credential = w.credential
        LIMIT 1
    ) AS c
$$;

-- What is known of each session that is asked for, and whether its bounds admit it.
CREATE FUNCTION holdfast.session_facts_v1(
    shards smallint[], channels text[], keys text[], ips text[], ip_shards smallint[], networks text[],
    network_shards smallint[], own_froms bigint[], own_belows bigint[], around_froms bigint[], around_belows bigint[]
) RETURNS TABLE (n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint)
LANGUAGE sql STABLE AS $$
    SELECT w.n, holdfast.session_admits_v1(claim.did IS NOT NULL, known.of_ip, known.of_network,
        w.own_from, w.own_below, w.around_from, w.around_below), claim.did, claim.stage, known.of_ip, known.of_network
    FROM unnest(shards, channels, keys, ips, ip_shards, networks, network_shards,
            own_froms, own_belows, around_froms, around_belows) WITH ORDINALITY
        AS w (shard, channel, key, ip, ip_shard, network, network_shard,
            own_from, own_below, around_from, around_below, n)
    LEFT JOIN LATERAL (
        SELECT t.did, t.stage FROM holdfast.identifiers AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key LIMIT 1
    ) AS claim ON true
    CROSS JOIN LATERAL (
        SELECT coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.ip_shard AND t.ip = w.ip), 0) AS of_ip,
            coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.network_shard AND t.ip = w.network), 0) AS of_network
    ) AS known
$$;
