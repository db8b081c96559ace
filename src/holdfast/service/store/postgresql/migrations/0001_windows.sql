-- rules/quotas.py: whether a window has room, and the time of the entry whose leaving makes some. No row: it has.
CREATE FUNCTION holdfast.window_full_v1(times double precision[], counts integer[], most bigint, since double precision)
RETURNS TABLE (frees_at double precision) LANGUAGE sql IMMUTABLE AS $$
    SELECT NULL::double precision WHERE most = 0
    UNION ALL (
        SELECT e.at FROM (
            SELECT t.at, sum(t.many) OVER (ORDER BY t.at DESC ROWS UNBOUNDED PRECEDING) AS so_far
            FROM unnest(times, counts) AS t (at, many) WHERE most > 0 AND t.at > since
        ) AS e WHERE e.so_far >= most ORDER BY e.at DESC LIMIT 1
    )
$$;

-- The entries of a window after one more event. Up to 64 events are kept one by one: the latest that matter to the
-- limit. Of more, those in the same 64th of the window share an entry, which leaves when its latest event does: so a
-- window never admits more than its limit. What is over stays two minutes more, for clocks that differ.
CREATE FUNCTION holdfast.window_entries_v1(
    times double precision[], counts integer[], most bigint, now double precision, span double precision
) RETURNS TABLE (at double precision, many integer) LANGUAGE sql IMMUTABLE AS $$
    SELECT max(e.at), sum(e.many)::integer FROM (
        SELECT t.at, t.many, CASE WHEN most > 64 THEN floor(t.at * 64 / span)
            ELSE -row_number() OVER (ORDER BY t.at DESC) END AS entry
        FROM (
            SELECT u.at, u.many FROM unnest(times, counts) AS u (at, many)
            WHERE u.at > now - span - 120
            UNION ALL SELECT now, 1
        ) AS t
    ) AS e GROUP BY e.entry ORDER BY 1 DESC LIMIT CASE WHEN most > 64 THEN NULL ELSE most END
$$;

-- The entries of a window without an event of this time, which is in the first entry that is not earlier.
CREATE FUNCTION holdfast.window_without_v1(times double precision[], counts integer[], event_at double precision)
RETURNS TABLE (at double precision, many integer) LANGUAGE sql IMMUTABLE AS $$
    SELECT e.at, e.many FROM (
        SELECT t.at, t.many - CASE WHEN t.at >= event_at
            AND row_number() OVER (ORDER BY t.at < event_at, t.at) = 1 THEN 1 ELSE 0 END AS many
        FROM unnest(times, counts) AS t (at, many)
    ) AS e WHERE e.many > 0
$$;

-- Counts one event on all windows of each charge, or on none of them. Each row of the arrays is one window; the rows of a
-- charge have its number, event and time; an event that is never given back has no number. Returns the full windows of
-- the charges that were refused.
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
        SELECT t.times, t.counts FROM holdfast.windows AS t
        WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject LIMIT 1
    ) AS kept ON true
    CROSS JOIN LATERAL holdfast.window_full_v1(kept.times, kept.counts, w.most, w.now - w.span) AS f;

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
            SELECT t.times, t.counts FROM holdfast.windows AS t
            WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject LIMIT 1
        ) AS kept ON true
        CROSS JOIN LATERAL holdfast.window_full_v1(kept.times, kept.counts, w.most, w.now - w.span) AS f
        WHERE w.charge = one;
        IF NOT FOUND THEN
            IF one = ANY (coalesce(refused, '{}')) THEN
                PERFORM holdfast.lost_race_v1();  -- it was full at the first look, and has room now
            END IF;
            UPDATE holdfast.windows AS t SET
                (times, counts) = (
                    SELECT array_agg(e.at ORDER BY e.at), array_agg(e.many ORDER BY e.at)
                    FROM holdfast.window_entries_v1(t.times, t.counts, w.most, w.now, w.span) AS e),
                ids = CASE WHEN w.event IS NULL THEN t.ids ELSE t.ids[cardinality(t.ids) - 62:] || w.event END,
                id_ats = CASE WHEN w.event IS NULL THEN t.id_ats ELSE t.id_ats[cardinality(t.ids) - 62:] || w.now END,
                last_at = greatest(t.last_at, w.now)
            FROM unnest(charges, shards, kinds, subjects, limits, nows, spans, events)
                AS w (charge, shard, what, subject, most, now, span, event)
            WHERE w.charge = one AND t.shard = w.shard AND t.what = w.what AND t.subject = w.subject;
            GET DIAGNOSTICS changed = ROW_COUNT;
            IF changed <> (SELECT count(*) FROM unnest(charges) AS c WHERE c = one) THEN
                PERFORM holdfast.lost_race_v1();  -- a window was over and removed before it could be locked
            END IF;
        END IF;
    END LOOP;
END
$$;

-- Takes events off windows; one that is gone already, or has left `ids`, changes nothing. No window may be in a batch
-- twice.
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
        (times, counts) = (
            SELECT coalesce(array_agg(e.at ORDER BY e.at), '{}'), coalesce(array_agg(e.many ORDER BY e.at), '{}')
            FROM holdfast.window_without_v1(t.times, t.counts, t.id_ats[array_position(t.ids, w.event)]) AS e),
        ids = array(SELECT e.id FROM unnest(t.ids) AS e (id) WHERE e.id <> w.event),
        id_ats = array(SELECT e.at FROM unnest(t.ids, t.id_ats) AS e (id, at) WHERE e.id <> w.event)
    FROM unnest(shards, kinds, subjects, events) AS w (shard, what, subject, event)
    WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject AND w.event = ANY (t.ids);
END
$$;
