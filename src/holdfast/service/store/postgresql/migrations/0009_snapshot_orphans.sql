-- DIDs that lost a credential, and since when; 0 is for the upkeep to fill in. If such a DID has no standing credential
-- after 30 days, its snapshots go.
CREATE TABLE holdfast.snapshot_orphans (
    shard smallint NOT NULL,
    did text COLLATE "C" NOT NULL,
    since double precision NOT NULL,
    PRIMARY KEY (shard, did)
);
CREATE INDEX snapshot_orphans_since ON holdfast.snapshot_orphans (since);

-- What keeps snapshots without a standing credential already.
INSERT INTO holdfast.snapshot_orphans (shard, did, since)
SELECT k.shard, k.did, 0 FROM (
    SELECT shard, did FROM holdfast.snapshot_roots UNION SELECT shard, did FROM holdfast.snapshot_pins
) AS k ON CONFLICT DO NOTHING;

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
