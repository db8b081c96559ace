-- Ends what is over for at most this many DIDs of each kind; how many rows went.
CREATE FUNCTION holdfast.snapshot_expire_v1(at double precision, queued_us bigint, failed_us bigint, most bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    one record;
    removed bigint := 0;
    part bigint;
    held text[];
BEGIN
    FOR one IN SELECT DISTINCT c.shard, c.did FROM (
        (SELECT t.shard, t.did FROM holdfast.snapshot_uploads AS t WHERE t.expires_at < at LIMIT most)
        UNION ALL (SELECT t.shard, t.did FROM holdfast.snapshot_pins AS t
            WHERE t.state = 'failed' AND t.created_us < failed_us LIMIT most)
        UNION ALL (SELECT t.shard, t.did FROM holdfast.snapshot_pins AS t
            WHERE t.state = 'queued' AND t.created_us < queued_us LIMIT most)
        UNION ALL (SELECT t.shard, t.did FROM holdfast.snapshot_roots AS t
            WHERE t.held_until > 0 AND t.held_until <= at LIMIT most)
    ) AS c ORDER BY c.shard, c.did
    LOOP
        CONTINUE WHEN NOT holdfast.snapshot_try_turn_v1(one.shard);
        DELETE FROM holdfast.snapshot_uploads AS t
        WHERE t.shard = one.shard AND t.did = one.did AND t.expires_at < at;
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
        DELETE FROM holdfast.snapshot_pins AS t
        WHERE t.shard = one.shard AND t.did = one.did AND t.state = 'failed' AND t.created_us < failed_us;
        GET DIAGNOSTICS part = ROW_COUNT;
        PERFORM holdfast.snapshot_count_v1(one.shard, 0, -part, 0);
        removed := removed + part;
        UPDATE holdfast.snapshot_pins AS t SET state = 'failed'
        WHERE t.shard = one.shard AND t.did = one.did AND t.state = 'queued' AND t.created_us < queued_us;
        GET DIAGNOSTICS part = ROW_COUNT;
        removed := removed + part;
        SELECT coalesce(array_agg(t.cid), '{}') INTO held FROM holdfast.snapshot_roots AS t
        WHERE t.shard = one.shard AND t.did = one.did AND t.held_until > 0 AND t.held_until <= at;
        removed := removed + holdfast.snapshot_drop_v1(one.shard, one.did, held, at);
        UPDATE holdfast.snapshot_roots AS t SET held_until = 0
        WHERE t.shard = one.shard AND t.did = one.did AND t.cid = ANY (held);
        PERFORM holdfast.snapshot_sweep_v1(one.shard, one.did);
    END LOOP;
    RETURN removed;
END
$$;

-- Removes at most this many used tokens, and revocations, that no rule looks at any more; how many went.
CREATE FUNCTION holdfast.snapshot_expire_tokens_v1(horizon double precision, most bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    removed bigint;
    part bigint;
BEGIN
    DELETE FROM holdfast.snapshot_tokens AS t USING (
        SELECT e.shard, e.token, e.kind FROM holdfast.snapshot_tokens AS e WHERE e.until < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.token = w.token AND t.kind = w.kind AND t.until < horizon;
    GET DIAGNOSTICS removed = ROW_COUNT;
    DELETE FROM holdfast.snapshot_revocations AS t USING (
        SELECT e.shard, e.did, e.cid FROM holdfast.snapshot_revocations AS e WHERE e.until < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.did = w.did AND t.cid = w.cid AND t.until < horizon;
    GET DIAGNOSTICS part = ROW_COUNT;
    RETURN removed + part;
END
$$;

-- Whether a DID has a credential that the chain has not refused; with `only_confirmed`, one that it has confirmed.
CREATE FUNCTION holdfast.did_stands_v1(of_shard smallint, of_did text, only_confirmed boolean) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT d.identifier_shard, d.channel, d.key FROM holdfast.did_identifiers AS d
        WHERE d.shard = of_shard AND d.did = of_did
    LOOP
        PERFORM 1 FROM holdfast.credentials AS c
        WHERE c.shard = one.identifier_shard AND c.channel = one.channel AND c.key = one.key AND c.did = of_did
            AND c.confirmation IN ('confirmed', CASE WHEN only_confirmed THEN 'confirmed' ELSE 'pending' END);
        IF FOUND THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Removes the snapshots, pins and records of at most this many DIDs that have had no standing credential since the
-- horizon; how many rows were looked at.
CREATE FUNCTION holdfast.snapshot_expire_orphans_v1(at double precision, horizon double precision, most bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    one record;
    seen bigint := 0;
    part bigint;
    name_shards smallint[];
    names text[];
BEGIN
    UPDATE holdfast.snapshot_orphans AS t SET since = at FROM (
        SELECT e.shard, e.did FROM holdfast.snapshot_orphans AS e WHERE e.since = 0 LIMIT most
    ) AS w WHERE t.shard = w.shard AND t.did = w.did AND t.since = 0;
    FOR one IN SELECT t.shard, t.did FROM (
        SELECT shard, did FROM holdfast.snapshot_orphans WHERE since > 0 AND since < horizon LIMIT most
    ) AS t ORDER BY t.shard, t.did
    LOOP
        CONTINUE WHEN NOT holdfast.snapshot_try_turn_v1(one.shard);
        seen := seen + 1;
        IF NOT holdfast.did_stands_v1(one.shard, one.did, false) THEN
            SELECT array_agg(holdfast.shard_of_v1(r.publisher)), array_agg(r.publisher) INTO name_shards, names
            FROM holdfast.snapshot_roots AS r
            WHERE r.shard = one.shard AND r.did = one.did AND r.publisher IS NOT NULL;
            DELETE FROM holdfast.snapshot_names AS n USING unnest(name_shards, names) AS w (shard, name)
            WHERE n.shard = w.shard AND n.name = w.name AND n.did = one.did AND (holdfast.one_server_v1() OR n.shard = ANY (name_shards));
            DELETE FROM holdfast.snapshot_pins AS t WHERE t.shard = one.shard AND t.did = one.did;
            GET DIAGNOSTICS part = ROW_COUNT;
            PERFORM holdfast.snapshot_count_v1(one.shard, 0, -part, 0);
            DELETE FROM holdfast.snapshot_roots AS t WHERE t.shard = one.shard AND t.did = one.did;
            GET DIAGNOSTICS part = ROW_COUNT;
            PERFORM holdfast.snapshot_count_v1(one.shard, -part, 0, 0);
            PERFORM holdfast.snapshot_sweep_v1(one.shard, one.did);
        END IF;
        DELETE FROM holdfast.snapshot_orphans AS t WHERE t.shard = one.shard AND t.did = one.did;
    END LOOP;
    RETURN seen;
END
$$;
