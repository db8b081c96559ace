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
        PERFORM holdfast.snapshot_turn_v1(one.shard);
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
    DELETE FROM holdfast.snapshot_tokens WHERE (shard, token, kind) IN (
        SELECT shard, token, kind FROM holdfast.snapshot_tokens
        WHERE until < horizon LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS removed = ROW_COUNT;
    DELETE FROM holdfast.snapshot_revocations WHERE (shard, did, cid) IN (
        SELECT shard, did, cid FROM holdfast.snapshot_revocations
        WHERE until < horizon LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    RETURN removed + part;
END
$$;

-- Whether a DID has a credential that the chain has not refused; with `only_confirmed`, one that it has confirmed.
CREATE FUNCTION holdfast.did_stands_v1(of_shard smallint, of_did text, only_confirmed boolean) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM holdfast.did_identifiers AS d
        JOIN holdfast.credentials AS c ON c.shard = d.identifier_shard AND c.channel = d.channel AND c.key = d.key
            AND c.did = d.did
        WHERE d.shard = of_shard AND d.did = of_did
            AND c.confirmation IN ('confirmed', CASE WHEN only_confirmed THEN 'confirmed' ELSE 'pending' END))
$$;

CREATE FUNCTION holdfast.credential_lost_v1() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.snapshot_orphans AS t (shard, did, since)
    VALUES (holdfast.shard_of_v1(OLD.did), OLD.did, CASE WHEN TG_OP = 'UPDATE' THEN NEW.settled_at ELSE 0 END)
    ON CONFLICT (shard, did) DO UPDATE SET since = excluded.since;
    RETURN NULL;
END
$$;
CREATE TRIGGER credential_refused AFTER UPDATE OF confirmation ON holdfast.credentials
FOR EACH ROW WHEN (OLD.confirmation <> 'refused' AND NEW.confirmation = 'refused')
EXECUTE FUNCTION holdfast.credential_lost_v1();
CREATE TRIGGER credential_removed AFTER DELETE ON holdfast.credentials
FOR EACH ROW WHEN (OLD.confirmation <> 'refused') EXECUTE FUNCTION holdfast.credential_lost_v1();

-- Removes the snapshots, pins and records of at most this many DIDs that have had no standing credential since the
-- horizon; how many rows were looked at.
CREATE FUNCTION holdfast.snapshot_expire_orphans_v1(at double precision, horizon double precision, most bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    one record;
    seen bigint := 0;
    part bigint;
BEGIN
    UPDATE holdfast.snapshot_orphans SET since = at WHERE (shard, did) IN (
        SELECT shard, did FROM holdfast.snapshot_orphans WHERE since = 0 LIMIT most FOR UPDATE SKIP LOCKED);
    FOR one IN SELECT t.shard, t.did FROM (
        SELECT shard, did FROM holdfast.snapshot_orphans WHERE since > 0 AND since < horizon LIMIT most
    ) AS t ORDER BY t.shard, t.did
    LOOP
        seen := seen + 1;
        PERFORM holdfast.snapshot_turn_v1(one.shard);
        IF NOT holdfast.did_stands_v1(one.shard, one.did, false) THEN
            DELETE FROM holdfast.snapshot_names AS n USING holdfast.snapshot_roots AS r
            WHERE r.shard = one.shard AND r.did = one.did AND n.shard = holdfast.shard_of_v1(r.publisher)
                AND n.name = r.publisher AND n.did = one.did;
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
