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

-- Writes windows that are locked.
CREATE FUNCTION holdfast.write_windows_v1(changed holdfast.windows[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    shards smallint[] := array(SELECT w.shard FROM unnest(changed) AS w);
BEGIN
    UPDATE holdfast.windows AS t
    SET times = w.times, counts = w.counts, ids = w.ids, id_ats = w.id_ats, last_at = w.last_at
    FROM unnest(changed) AS w
    WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject AND (holdfast.one_server_v1() OR t.shard = ANY (shards));
END
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
    one record;
    full_window record;
    refused bigint[] := '{}';
    nths bigint[];
    locked holdfast.windows[];
    places bigint[];
    changed holdfast.windows;
    is_full boolean;
    i bigint;
BEGIN
    -- Without locks first: what is refused costs no write.
    FOR full_window IN SELECT w.charge, w.nth, f.frees_at
        FROM unnest(charges, limits, nows, spans) WITH ORDINALITY AS w (charge, most, now, span, nth)
        LEFT JOIN holdfast.look_at_windows_v1(shards, kinds, subjects) AS t ON t.nth = w.nth
        CROSS JOIN LATERAL holdfast.window_full_v1(t.times, t.counts, w.most, w.now - w.span) AS f
    LOOP
        refused := refused || full_window.charge;
        n := full_window.charge;
        nth := full_window.nth;
        frees_at := full_window.frees_at;
        RETURN NEXT;
    END LOOP;
    nths := array(SELECT w.nth FROM unnest(charges) WITH ORDINALITY AS w (charge, nth) WHERE w.charge <> ALL (refused));
    IF nths = '{}' THEN
        RETURN;
    END IF;

    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1(
            'windows', array(SELECT kinds[w.nth] || ' ' || subjects[w.nth] FROM unnest(nths) AS w (nth)));
    END IF;
    INSERT INTO holdfast.windows (shard, what, subject)
    SELECT DISTINCT shards[w.nth], kinds[w.nth], subjects[w.nth] FROM unnest(nths) AS w (nth)
    ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING;
    SELECT array_agg(w) INTO locked FROM holdfast.lock_windows_v1(
        array(SELECT shards[w.nth] FROM unnest(nths) AS w (nth)), array(SELECT kinds[w.nth] FROM unnest(nths) AS w (nth)),
        array(SELECT subjects[w.nth] FROM unnest(nths) AS w (nth))) AS w;
    -- The place of each row's window among those that are locked.
    SELECT array_agg(t.place ORDER BY w.nth) INTO places
    FROM unnest(shards, kinds, subjects) WITH ORDINALITY AS w (shard, what, subject, nth)
    LEFT JOIN (
        SELECT u.shard, u.what, u.subject, u.ordinality AS place FROM unnest(locked) WITH ORDINALITY AS u
    ) AS t USING (shard, what, subject);

    FOR one IN SELECT w.charge, array_agg(w.nth ORDER BY w.nth) AS nths
        FROM unnest(charges) WITH ORDINALITY AS w (charge, nth) WHERE w.nth = ANY (nths)
        GROUP BY w.charge ORDER BY w.charge
    LOOP
        is_full := false;
        FOREACH i IN ARRAY one.nths LOOP
            changed := locked[places[i]];
            IF changed.shard IS NULL THEN
                PERFORM holdfast.lost_race_v1();  -- a window was over and removed before it could be locked
            END IF;
            RETURN QUERY SELECT one.charge, i, f.frees_at
            FROM holdfast.window_full_v1(changed.times, changed.counts, limits[i], nows[i] - spans[i]) AS f;
            is_full := is_full OR FOUND;
        END LOOP;
        CONTINUE WHEN is_full;
        FOREACH i IN ARRAY one.nths LOOP
            changed := locked[places[i]];
            SELECT array_agg(e.at ORDER BY e.at), array_agg(e.many ORDER BY e.at) INTO changed.times, changed.counts
            FROM holdfast.window_entries_v1(changed.times, changed.counts, limits[i], nows[i], spans[i]) AS e;
            IF events[i] IS NOT NULL THEN
                changed.id_ats := changed.id_ats[cardinality(changed.ids) - 62:] || nows[i];
                changed.ids := changed.ids[cardinality(changed.ids) - 62:] || events[i];
            END IF;
            changed.last_at := greatest(changed.last_at, nows[i]);
            locked[places[i]] := changed;
        END LOOP;
    END LOOP;
    PERFORM holdfast.write_windows_v1(locked);
END
$$;

-- Takes events off windows; one that is gone already, or has left `ids`, changes nothing. No window may be in a batch
-- twice.
CREATE FUNCTION holdfast.give_back_v1(shards smallint[], kinds text[], subjects text[], events bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    changed holdfast.windows[];
BEGIN
    SELECT array_agg(ROW(
        t.shard, t.what, t.subject, array(SELECT e.id FROM unnest(t.ids) AS e (id) WHERE e.id <> w.event),
        without.times, t.last_at, without.counts,
        array(SELECT e.at FROM unnest(t.ids, t.id_ats) AS e (id, at) WHERE e.id <> w.event))::holdfast.windows)
    INTO changed
    FROM holdfast.lock_windows_v1(shards, kinds, subjects) AS t
    JOIN unnest(shards, kinds, subjects, events) AS w (shard, what, subject, event) USING (shard, what, subject)
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(e.at ORDER BY e.at), '{}') AS times,
            coalesce(array_agg(e.many ORDER BY e.at), '{}') AS counts
        FROM holdfast.window_without_v1(t.times, t.counts, t.id_ats[array_position(t.ids, w.event)]) AS e
    ) AS without
    WHERE w.event = ANY (t.ids);
    PERFORM holdfast.write_windows_v1(changed);
END
$$;
