-- Keeps codes in place of older ones, unless the same code was sent once more. No identifier may be in a batch twice.
CREATE FUNCTION holdfast.keep_codes_v1(
    shards smallint[], channels text[], keys text[], ids bigint[], digests bytea[], nows double precision[],
    expiries double precision[], ips text[], same_untils double precision[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('codes', keys);
    END IF;
    INSERT INTO holdfast.codes AS t (shard, channel, key, id, digest, sent_at, expires_at, ip, same_until)
    SELECT * FROM unnest(shards, channels, keys, ids, digests, nows, expiries, ips, same_untils)
        AS w (shard, channel, key, id, digest, now, expires_at, ip, same_until) ORDER BY shard, channel, key
    ON CONFLICT (shard, channel, key) DO UPDATE SET
        expires_at = excluded.expires_at,
        id = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.id ELSE excluded.id END,
        digest = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.digest ELSE excluded.digest END,
        sent_at = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.sent_at ELSE excluded.sent_at END,
        ip = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.ip ELSE excluded.ip END,
        attempts = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.attempts ELSE 0 END,
        attempts_by_others = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.attempts_by_others ELSE 0 END,
        same_until = CASE WHEN t.same_until > excluded.sent_at AND t.digest = excluded.digest THEN t.same_until ELSE excluded.same_until END;
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
    locked holdfast.codes[];
BEGIN
    SELECT array_agg(t) INTO locked FROM holdfast.lock_codes_v1(shards, channels, keys) AS t;
    FOR one IN SELECT w.ip, w.now, w.most, w.n, t.ordinality AS place
        FROM unnest(shards, channels, keys, ips, nows, limits) WITH ORDINALITY
            AS w (shard, channel, key, ip, now, most, n)
        JOIN unnest(locked) WITH ORDINALITY AS t USING (shard, channel, key)
        WHERE NOT (w.n = ANY (skipped)) ORDER BY w.n
    LOOP
        code := locked[one.place];
        IF code.expires_at <= one.now THEN
            RETURN QUERY SELECT one.n, code.id, code.digest, code.expires_at, code.attempts::bigint;
            CONTINUE;
        END IF;
        SELECT * INTO counted
        FROM holdfast.count_attempt_v1(code.attempts, code.attempts_by_others, one.most, code.ip = one.ip);
        code.attempts := counted.in_all;
        code.attempts_by_others := counted.by_others;
        locked[one.place] := code;
        RETURN QUERY SELECT one.n, code.id, code.digest, code.expires_at, counted.number;
    END LOOP;
    UPDATE holdfast.codes AS t SET attempts = w.attempts, attempts_by_others = w.attempts_by_others
    FROM unnest(locked) AS w
    WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND (holdfast.one_server_v1() OR t.shard = ANY (shards))
        AND t.attempts <> w.attempts;
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

-- Remembers the latest verification of each. No identifier may be in a batch twice.
CREATE FUNCTION holdfast.mark_verified_v1(
    shards smallint[], channels text[], keys text[], nows double precision[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('verifications', keys);
    END IF;
    INSERT INTO holdfast.verifications (shard, channel, key, verified_at)
    SELECT * FROM unnest(shards, channels, keys, nows) AS w (shard, channel, key, now) ORDER BY shard, channel, key
    ON CONFLICT (shard, channel, key) DO UPDATE SET verified_at = excluded.verified_at;
    INSERT INTO holdfast.audit (shard, channel, key, at, action)
    SELECT w.shard, w.channel, w.key, w.now, 'verified'
    FROM unnest(shards, channels, keys, nows) AS w (shard, channel, key, now);
    PERFORM holdfast.tell_v1(shards, channels, keys, nows, 'verified', array_fill(NULL::text, ARRAY[cardinality(shards)]));
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
    PERFORM holdfast.lock_codes_v1(shards, channels, keys);
    WITH gone AS (
        DELETE FROM holdfast.codes AS t
        USING unnest(shards, channels, keys, ids) WITH ORDINALITY AS w (shard, channel, key, id, n)
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.id = w.id
            AND (holdfast.one_server_v1() OR t.shard = ANY (shards))
        RETURNING w.n
    ) SELECT array_agg(gone.n) INTO used FROM gone;
    PERFORM holdfast.mark_verified_v1(
        array_agg(w.shard), array_agg(w.channel), array_agg(w.key), array_agg(w.now))
    FROM unnest(shards, channels, keys, nows) WITH ORDINALITY AS w (shard, channel, key, now, n)
    WHERE w.n = ANY (used) HAVING count(*) > 0;
    RETURN QUERY SELECT u FROM unnest(used) AS u;
END
$$;
