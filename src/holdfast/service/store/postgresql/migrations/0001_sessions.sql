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

-- Opens the sessions that their bounds admit; for the others returns the facts, and writes nothing. `own_mosts` and
-- `around_mosts` are what the counters of a new session's address and network may be afterwards. The bounds of a session
-- are lower by one for each earlier session of the batch from the same address, or network.
-- No identifier may be in a batch twice. Rows are locked in one order: identifiers, then counters, then the total.
CREATE FUNCTION holdfast.open_sessions_v1(
    shards smallint[], channels text[], keys text[], givens text[], dids text[],
    ips text[], ip_shards smallint[], networks text[], network_shards smallint[], nows double precision[],
    own_froms bigint[], own_belows bigint[], around_froms bigint[], around_belows bigint[],
    own_mosts bigint[], around_mosts bigint[], total_slot smallint
) RETURNS TABLE (n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
BEGIN
RETURN QUERY
WITH asked AS MATERIALIZED (
    SELECT w.*, i.did AS held_by, i.stage AS held_stage,
        coalesce(own.registrations, 0) AS of_ip, coalesce(around.registrations, 0) AS of_network
    FROM unnest(shards, channels, keys, givens, dids, ips, ip_shards, networks, network_shards, nows,
            own_froms, own_belows, around_froms, around_belows, own_mosts, around_mosts) WITH ORDINALITY
        AS w (shard, channel, key, given, did, ip, ip_shard, network, network_shard, now,
            own_from, own_below, around_from, around_below, own_most, around_most, n)
    LEFT JOIN LATERAL (
        SELECT t.did, t.stage FROM holdfast.identifiers AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key LIMIT 1
    ) AS i ON true
    LEFT JOIN LATERAL (
        SELECT t.registrations FROM holdfast.ip_counters AS t WHERE t.shard = w.ip_shard AND t.ip = w.ip LIMIT 1
    ) AS own ON true
    LEFT JOIN LATERAL (
        SELECT t.registrations FROM holdfast.ip_counters AS t
        WHERE t.shard = w.network_shard AND t.ip = w.network LIMIT 1
    ) AS around ON true
), admitted AS (
    INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at)
    SELECT shard, channel, key, given, did, 'session', ip, now FROM asked
    WHERE holdfast.session_admits_v1(
        held_by IS NOT NULL, of_ip, of_network, own_from, own_below, around_from, around_below)
    ORDER BY shard, channel, key
    ON CONFLICT DO NOTHING
    RETURNING shard, channel, key
), won AS MATERIALIZED (
    SELECT asked.*
    FROM asked JOIN admitted USING (shard, channel, key)
), counted AS (
    INSERT INTO holdfast.ip_counters AS t (shard, ip, registrations)
    SELECT shard, subject, count(*) FROM (
        SELECT ip_shard AS shard, ip AS subject FROM won
        UNION ALL SELECT network_shard, network FROM won WHERE network IS NOT NULL
    ) AS subjects GROUP BY shard, subject ORDER BY shard, subject
    ON CONFLICT (shard, ip) DO UPDATE SET registrations = t.registrations + excluded.registrations
    RETURNING ip AS subject, registrations
), written AS (
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT shard, channel, key, now, 'session', did FROM won
), added AS (
    INSERT INTO holdfast.totals AS t (name, slot, value)
    SELECT 'registrations', total_slot, (SELECT count(*) FROM won)
    WHERE (SELECT count(*) FROM counted) > 0  -- not before the counters
    ON CONFLICT (name, slot) DO UPDATE SET value = t.value + excluded.value
)
SELECT asked.n,
    -- Counted under lock: others may have added to the same counters since they were read.
    CASE WHEN won.n IS NULL THEN false
        WHEN own.registrations <= won.own_most AND coalesce(around.registrations, 0) <= won.around_most THEN true
        ELSE holdfast.lost_race_v1() END,
    asked.held_by, asked.held_stage, asked.of_ip, asked.of_network
FROM asked
LEFT JOIN won ON won.n = asked.n
LEFT JOIN counted AS own ON own.subject = won.ip
LEFT JOIN counted AS around ON around.subject = won.network;
END
$$;
