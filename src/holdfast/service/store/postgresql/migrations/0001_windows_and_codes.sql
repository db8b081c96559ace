-- rules/quotas.py: whether a window has room, and the time of the event whose leaving makes some. No row: it has.
CREATE FUNCTION holdfast.window_full_v1(times double precision[], most bigint, since double precision)
RETURNS TABLE (frees_at double precision) LANGUAGE sql IMMUTABLE AS $$
    SELECT NULL::double precision WHERE most = 0
    UNION ALL (
        SELECT t FROM unnest(times) AS t WHERE most > 0 AND t > since
        ORDER BY t DESC LIMIT CASE WHEN most > 0 THEN 1 ELSE 0 END OFFSET greatest(most - 1, 0)
    )
$$;

-- Counts one event on all windows of each charge, or on none of them. Each row of the arrays is one window; the rows of a
-- charge have its number, event and time. Returns the full windows of the charges that were refused.
CREATE FUNCTION holdfast.charge_windows_v1(
    charges bigint[], shards smallint[], kinds text[], subjects text[], limits bigint[], spans double precision[],
    nows double precision[], events bigint[]
) RETURNS TABLE (n bigint, nth bigint, frees_at double precision)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    refused bigint[];
    one bigint;
    changed bigint;
BEGIN
    -- Without locks first: what is refused costs no write.
    SELECT array_agg(DISTINCT w.charge) INTO refused
    FROM unnest(charges, shards, kinds, subjects, limits, nows, spans)
        AS w (charge, shard, what, subject, most, now, span)
    LEFT JOIN LATERAL (
        SELECT t.times FROM holdfast.windows AS t
        WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject LIMIT 1
    ) AS kept ON true
    CROSS JOIN LATERAL holdfast.window_full_v1(kept.times, w.most, w.now - w.span) AS f;

    IF EXISTS (SELECT 1 FROM unnest(charges) AS c WHERE NOT (c = ANY (coalesce(refused, '{}')))) THEN
        INSERT INTO holdfast.windows (shard, what, subject)
        SELECT DISTINCT shard, what, subject FROM unnest(charges, shards, kinds, subjects)
            AS w (charge, shard, what, subject) WHERE NOT (w.charge = ANY (coalesce(refused, '{}')))
        ORDER BY shard, what, subject ON CONFLICT DO NOTHING;
        PERFORM 1 FROM (
            SELECT 1 FROM holdfast.windows AS t JOIN (
                SELECT DISTINCT shard, what, subject FROM unnest(charges, shards, kinds, subjects)
                    AS w (charge, shard, what, subject) WHERE NOT (w.charge = ANY (coalesce(refused, '{}')))
            ) AS w USING (shard, what, subject)
            ORDER BY t.shard, t.what, t.subject FOR UPDATE OF t
        ) AS locked;
    END IF;

    FOR one IN SELECT DISTINCT c FROM unnest(charges) AS c ORDER BY c LOOP
        RETURN QUERY SELECT w.charge, w.nth, f.frees_at
        FROM unnest(charges, shards, kinds, subjects, limits, nows, spans) WITH ORDINALITY
            AS w (charge, shard, what, subject, most, now, span, nth)
        LEFT JOIN LATERAL (
            SELECT t.times FROM holdfast.windows AS t
            WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject LIMIT 1
        ) AS kept ON true
        CROSS JOIN LATERAL holdfast.window_full_v1(kept.times, w.most, w.now - w.span) AS f
        WHERE w.charge = one;
        IF NOT FOUND THEN
            IF one = ANY (coalesce(refused, '{}')) THEN
                PERFORM holdfast.lost_race_v1();  -- it was full at the first look, and has room now
            END IF;
            -- What is over stays an hour more, so that a clock set back meets the events that it expects.
            UPDATE holdfast.windows AS t SET
                ids = array(SELECT e.id FROM unnest(t.ids, t.times) AS e (id, at)
                    WHERE e.at > w.now - w.span - 3600) || w.event,
                times = array(SELECT at FROM unnest(t.times) AS at WHERE at > w.now - w.span - 3600) || w.now,
                last_at = greatest(t.last_at, w.now)
            FROM unnest(charges, shards, kinds, subjects, nows, spans, events)
                AS w (charge, shard, what, subject, now, span, event)
            WHERE w.charge = one AND t.shard = w.shard AND t.what = w.what AND t.subject = w.subject;
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF changed <> (SELECT count(*) FROM unnest(charges) AS c WHERE c = one) THEN
                PERFORM holdfast.lost_race_v1();  -- a window was over and removed before it could be locked
            END IF;
        END IF;
    END LOOP;
END
$$;

-- Takes events off windows; one that is gone already changes nothing. No window may be in a batch twice.
CREATE FUNCTION holdfast.give_back_v1(shards smallint[], kinds text[], subjects text[], events bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    PERFORM 1 FROM (
        SELECT 1 FROM holdfast.windows AS t
        JOIN unnest(shards, kinds, subjects) AS w (shard, what, subject) USING (shard, what, subject)
        ORDER BY t.shard, t.what, t.subject FOR UPDATE OF t
    ) AS locked;
    UPDATE holdfast.windows AS t SET
        ids = array(SELECT e.id FROM unnest(t.ids, t.times) AS e (id, at) WHERE e.id <> w.event),
        times = array(SELECT e.at FROM unnest(t.ids, t.times) AS e (id, at) WHERE e.id <> w.event)
    FROM unnest(shards, kinds, subjects, events) AS w (shard, what, subject, event)
    WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject AND w.event = ANY (t.ids);
END
$$;

-- Keeps codes in place of older ones. No identifier may be in a batch twice.
CREATE FUNCTION holdfast.keep_codes_v1(
    shards smallint[], channels text[], keys text[], ids bigint[], digests bytea[], nows double precision[],
    expiries double precision[], ips text[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    INSERT INTO holdfast.codes (shard, channel, key, id, digest, sent_at, expires_at, ip)
    SELECT * FROM unnest(shards, channels, keys, ids, digests, nows, expiries, ips)
        AS w (shard, channel, key, id, digest, now, expires_at, ip) ORDER BY shard, channel, key
    ON CONFLICT (shard, channel, key) DO UPDATE SET
        id = excluded.id, digest = excluded.digest, sent_at = excluded.sent_at, expires_at = excluded.expires_at,
        ip = excluded.ip, attempts = 0, attempts_by_others = 0;
    INSERT INTO holdfast.audit (shard, channel, key, at, action)
    SELECT shard, channel, key, now, 'code_sent'
    FROM unnest(shards, channels, keys, nows) AS w (shard, channel, key, now);
END
$$;

-- rules/one_time_codes.py: count.
CREATE FUNCTION holdfast.count_attempt_v1(
    before_in_all integer, before_by_others integer, most bigint, own boolean,
    OUT in_all integer, OUT by_others integer, OUT number bigint
) LANGUAGE sql IMMUTABLE AS $$
    SELECT
        CASE WHEN refused THEN before_in_all ELSE before_in_all + 1 END,
        CASE WHEN refused OR own THEN before_by_others ELSE before_by_others + 1 END,
        CASE WHEN refused THEN most + 1 ELSE before_in_all + 1 END
    FROM (SELECT before_in_all >= most OR NOT (own OR before_by_others < most - 1) AS refused) AS decided
$$;

-- Counts attempts, but those to be skipped, at codes that have not expired, one after the other. No row: no code.
CREATE FUNCTION holdfast.count_attempts_v1(
    shards smallint[], channels text[], keys text[], ips text[], nows double precision[], limits bigint[],
    skipped bigint[]
) RETURNS TABLE (n bigint, id bigint, digest bytea, expires_at double precision, number bigint)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    one record;
    code holdfast.codes;
    counted record;
BEGIN
    PERFORM 1 FROM (
        SELECT 1 FROM holdfast.codes AS t JOIN (
            SELECT DISTINCT shard, channel, key FROM unnest(shards, channels, keys) AS w (shard, channel, key)
        ) AS w USING (shard, channel, key)
        ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
    ) AS locked;
    FOR one IN SELECT w.* FROM unnest(shards, channels, keys, ips, nows, limits) WITH ORDINALITY
        AS w (shard, channel, key, ip, now, most, n) WHERE NOT (w.n = ANY (skipped)) ORDER BY w.n
    LOOP
        SELECT t.* INTO code FROM holdfast.codes AS t
        WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key;
        CONTINUE WHEN NOT FOUND;
        IF code.expires_at <= one.now THEN
            RETURN QUERY SELECT one.n, code.id, code.digest, code.expires_at, code.attempts::bigint;
            CONTINUE;
        END IF;
        SELECT * INTO counted
        FROM holdfast.count_attempt_v1(code.attempts, code.attempts_by_others, one.most, code.ip = one.ip);
        IF counted.in_all <> code.attempts THEN
            UPDATE holdfast.codes AS t SET attempts = counted.in_all, attempts_by_others = counted.by_others
            WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key;
        END IF;
        RETURN QUERY SELECT one.n, code.id, code.digest, code.expires_at, counted.number;
    END LOOP;
END
$$;

-- Attempts that also count on windows. Where these refuse one, its full windows come back, each as `nth` of the arrays,
-- and nothing was counted for it.
CREATE FUNCTION holdfast.attempt_codes_v1(
    shards smallint[], channels text[], keys text[], ips text[], nows double precision[], limits bigint[],
    charges bigint[], window_shards smallint[], kinds text[], subjects text[], window_limits bigint[],
    spans double precision[], window_nows double precision[], events bigint[]
) RETURNS TABLE (n bigint, nth bigint, frees_at double precision, id bigint, digest bytea,
    expires_at double precision, number bigint)
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    refused bigint[] := '{}';
    full_window record;
BEGIN
    FOR full_window IN SELECT * FROM holdfast.charge_windows_v1(
        charges, window_shards, kinds, subjects, window_limits, spans, window_nows, events)
    LOOP
        refused := refused || full_window.n;
        RETURN QUERY SELECT full_window.n, full_window.nth, full_window.frees_at,
            NULL::bigint, NULL::bytea, NULL::double precision, NULL::bigint;
    END LOOP;
    RETURN QUERY SELECT c.n, NULL::bigint, NULL::double precision, c.id, c.digest, c.expires_at, c.number
    FROM holdfast.count_attempts_v1(shards, channels, keys, ips, nows, limits, refused) AS c;
END
$$;

-- Uses codes up; one row for each that was still there. No identifier may be in a batch twice.
CREATE FUNCTION holdfast.consume_codes_v1(
    shards smallint[], channels text[], keys text[], ids bigint[], nows double precision[]
) RETURNS TABLE (n bigint) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    used bigint[];
BEGIN
    PERFORM 1 FROM (
        SELECT 1 FROM holdfast.codes AS t
        JOIN unnest(shards, channels, keys) AS w (shard, channel, key) USING (shard, channel, key)
        ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
    ) AS locked;
    WITH gone AS (
        DELETE FROM holdfast.codes AS t
        USING unnest(shards, channels, keys, ids) WITH ORDINALITY AS w (shard, channel, key, id, n)
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.id = w.id RETURNING w.n
    ) SELECT array_agg(gone.n) INTO used FROM gone;
    PERFORM holdfast.mark_verified_v1(
        array_agg(w.shard), array_agg(w.channel), array_agg(w.key), array_agg(w.now))
    FROM unnest(shards, channels, keys, nows) WITH ORDINALITY AS w (shard, channel, key, now, n)
    WHERE w.n = ANY (used) HAVING count(*) > 0;
    RETURN QUERY SELECT u FROM unnest(used) AS u;
END
$$;

-- Remembers the latest verification of each. No identifier may be in a batch twice.
CREATE FUNCTION holdfast.mark_verified_v1(
    shards smallint[], channels text[], keys text[], nows double precision[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    INSERT INTO holdfast.verifications (shard, channel, key, verified_at)
    SELECT * FROM unnest(shards, channels, keys, nows) AS w (shard, channel, key, now) ORDER BY shard, channel, key
    ON CONFLICT (shard, channel, key) DO UPDATE SET verified_at = excluded.verified_at;
    INSERT INTO holdfast.audit (shard, channel, key, at, action)
    SELECT w.shard, w.channel, w.key, w.now, 'verified'
    FROM unnest(shards, channels, keys, nows) AS w (shard, channel, key, now);
END
$$;
