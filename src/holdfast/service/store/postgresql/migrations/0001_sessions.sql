-- Another transaction came between: the whole batch is undone, and its writes are done again one by one.
CREATE FUNCTION holdfast.lost_race_v1() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RAISE EXCEPTION 'another transaction came between' USING ERRCODE = 'HF001';
END
$$;

-- rules/registration.py: SessionRule. The counts lie within bounds; those of the rule begin at 0, and a caller that
-- decided on exact figures gives these as bounds.
CREATE FUNCTION holdfast.session_admits_v1(
    claimed boolean, of_ip bigint, of_network bigint,
    own_from bigint, own_below bigint, around_from bigint, around_below bigint
) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT NOT claimed AND of_ip >= own_from AND of_ip < own_below
        AND of_network >= around_from AND of_network < around_below
$$;

-- Adds sessions and counts them. Fails as a lost race, and adds none, if an identifier is claimed or a counter exceeds
-- its bound. Rows are locked in one order: identifiers, then counters, then the total.
CREATE FUNCTION holdfast.add_sessions_v1(
    shards smallint[], channels text[], keys text[], givens text[], dids text[],
    ips text[], ip_shards smallint[], networks text[], network_shards smallint[], nows double precision[],
    own_belows bigint[], around_belows bigint[], total_slot smallint
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    added bigint;
    too_many boolean;
BEGIN
    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('identifiers', keys);
    END IF;
    -- The rows that were written are counted themselves: an engine may report what was selected as ROW_COUNT.
    WITH written AS (
        INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, in_audit)
        SELECT shard, channel, key, given, did, 'session', ip, now, false
        FROM unnest(shards, channels, keys, givens, dids, ips, nows) AS w (shard, channel, key, given, did, ip, now)
        ORDER BY shard, channel, key ON CONFLICT DO NOTHING RETURNING 1
    ) SELECT count(*) INTO added FROM written;
    IF added < cardinality(shards) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('ip_counters', ips || networks);
    END IF;
    WITH subjects AS MATERIALIZED (
        -- The first session of a subject has the bound that its counter must keep to.
        SELECT shard, subject, count(*) AS more, max(below) AS most FROM (
            SELECT * FROM unnest(ip_shards, ips, own_belows) AS w (shard, subject, below)
            UNION ALL SELECT * FROM unnest(network_shards, networks, around_belows) AS w (shard, subject, below)
            WHERE subject IS NOT NULL
        ) AS named GROUP BY shard, subject
    ), counted AS (
        INSERT INTO holdfast.ip_counters AS t (shard, ip, registrations)
        SELECT shard, subject, more FROM subjects ORDER BY shard, subject
        ON CONFLICT (shard, ip) DO UPDATE SET registrations = t.registrations + excluded.registrations
        RETURNING shard, ip AS subject, registrations
    )
    -- Counted under lock. A full join cannot be done by nested loops, which the planner would choose for arrays of
    -- unknown length.
    SELECT bool_or(registrations > most) INTO too_many FROM subjects FULL JOIN counted USING (shard, subject);
    IF too_many THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    INSERT INTO holdfast.totals AS t (name, slot, value) VALUES ('registrations', total_slot, added)
    ON CONFLICT (name, slot) DO UPDATE SET value = t.value + excluded.value;
END
$$;

-- Opens the sessions that their bounds admit and no ban concerns; for the others returns the facts, and writes nothing.
-- `ban_ns` numbers the session of each of the subjects whose bans would concern it; without them, `done` is null for all
-- if there is any ban, and nothing is written. The bounds of a session are lower by one for each earlier session of the batch from the same address, or network.
-- No identifier may be in a batch twice. Usually every session is admitted, so all are added at first without a look.
CREATE FUNCTION holdfast.open_sessions_v1(
    shards smallint[], channels text[], keys text[], givens text[], dids text[],
    ips text[], ip_shards smallint[], networks text[], network_shards smallint[], nows double precision[],
    own_froms bigint[], own_belows bigint[], around_froms bigint[], around_belows bigint[], total_slot smallint,
    ban_ns bigint[], ban_subjects text[]
) RETURNS TABLE (n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint, banned text)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    refused bigint[] := '{}';
    banned_ns bigint[];
    banned_by text[];
BEGIN
    IF ban_ns IS NULL AND EXISTS (SELECT 1 FROM holdfast.bans) THEN
        RETURN QUERY SELECT g, NULL::boolean, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::text
        FROM generate_series(1::bigint, cardinality(shards)) AS g;
        RETURN;
    END IF;
    SELECT coalesce(array_agg(w.n), '{}'), array_agg(w.subject) INTO banned_ns, banned_by FROM (
        SELECT w.n, min(t.subject) AS subject FROM unnest(ban_ns, ban_subjects) AS w (n, subject)
        JOIN holdfast.bans AS t ON t.subject = w.subject GROUP BY w.n
    ) AS w;
    BEGIN
        IF banned_ns <> '{}' OR 0 < ANY (own_froms || around_froms) THEN
            PERFORM holdfast.lost_race_v1(); -- adding them checks the upper bounds alone
        END IF;
        PERFORM holdfast.add_sessions_v1(shards, channels, keys, givens, dids, ips, ip_shards, networks, network_shards,
            nows, own_belows, around_belows, total_slot);
    EXCEPTION WHEN SQLSTATE 'HF001' THEN
        SELECT coalesce(array_agg(f.n) FILTER (WHERE NOT f.done OR f.n = ANY (banned_ns)), '{}') INTO refused
        FROM holdfast.session_facts_v1(shards, channels, keys, ips, ip_shards, networks, network_shards,
            own_froms, own_belows, around_froms, around_belows) AS f;
        PERFORM holdfast.add_sessions_v1(array_agg(shard), array_agg(channel), array_agg(key), array_agg(given),
            array_agg(did), array_agg(ip), array_agg(ip_shard), array_agg(network), array_agg(network_shard),
            array_agg(now), array_agg(own_below), array_agg(around_below), total_slot)
        FROM unnest(shards, channels, keys, givens, dids, ips, ip_shards, networks, network_shards, nows, own_belows,
            around_belows) WITH ORDINALITY AS w (shard, channel, key, given, did, ip, ip_shard, network, network_shard,
            now, own_below, around_below, n)
        WHERE n <> ALL (refused) HAVING count(*) > 0;
    END;

    RETURN QUERY SELECT g, true, NULL::text, NULL::text, NULL::bigint, NULL::bigint, NULL::text
    FROM generate_series(1::bigint, cardinality(shards)) AS g WHERE g <> ALL (refused);
    IF refused <> '{}' THEN
        RETURN QUERY SELECT f.n, false, f.held_by, f.held_stage, f.of_ip, f.of_network,
            banned_by[array_position(banned_ns, f.n)]
        FROM holdfast.session_facts_v1(shards, channels, keys, ips, ip_shards, networks, network_shards,
            own_froms, own_belows, around_froms, around_belows) AS f WHERE f.n = ANY (refused);
    END IF;
END
$$;
