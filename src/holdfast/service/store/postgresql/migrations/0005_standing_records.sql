-- While a session or registration stands, its own row is its record; `audit` has those of rows that changed or went.
-- False: the row tells it. True: the audit has it, as everything that was written before this step.
ALTER TABLE holdfast.identifiers ADD COLUMN in_audit boolean NOT NULL DEFAULT true;
ALTER TABLE holdfast.credentials ADD COLUMN in_audit boolean NOT NULL DEFAULT true;

-- What happened to identifiers: the audit, and what standing rows tell.
CREATE VIEW holdfast.history AS
SELECT shard, channel, key, id, at, action, did FROM holdfast.audit
UNION ALL SELECT shard, channel, key, NULL, created_at, 'session', did FROM holdfast.identifiers WHERE NOT in_audit
UNION ALL SELECT shard, channel, key, NULL, created_at, 'registered', did FROM holdfast.credentials WHERE NOT in_audit;

-- The functions below keep their names: what an older release calls then moves these records too.

-- Removes a credential. An identifier that keeps none, or only refused ones, is a session again.
CREATE OR REPLACE FUNCTION holdfast.revoke_credential_v1(credential_shard smallint, credential_id text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    place holdfast.credential_places;
    gone holdfast.credentials;
BEGIN
    SELECT * INTO place FROM holdfast.lock_identifier_of_v1(credential_shard, credential_id);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM holdfast.credentials AS c
    WHERE c.shard = place.identifier_shard AND c.channel = place.channel AND c.key = place.key
        AND c.credential = credential_id RETURNING c.* INTO gone;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM holdfast.credential_places AS p WHERE p.shard = credential_shard AND p.credential = credential_id;
    PERFORM holdfast.back_to_session_v1(
        place.identifier_shard, place.channel, place.key, ARRAY['pending', 'confirmed']);
    PERFORM holdfast.forget_dids_v1(place.identifier_shard, place.channel, place.key, ARRAY[gone.did]);
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT place.identifier_shard, place.channel, place.key, w.at, w.action, gone.did
    FROM (VALUES (gone.created_at, 'registered'), (revoke_credential_v1.at, 'credential_revoked')) AS w (at, action)
    WHERE w.action <> 'registered' OR NOT gone.in_audit;
    RETURN true;
END
$$;

-- Frees an identifier: its claim, credentials, code and verification go; the history stays.
CREATE OR REPLACE FUNCTION holdfast.release_v1(of_shard smallint, of_channel text, of_key text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    claim holdfast.identifiers;
    known boolean;
    dids text[];
BEGIN
    DELETE FROM holdfast.identifiers AS t
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key RETURNING t.* INTO claim;
    known := FOUND;
    DELETE FROM holdfast.codes AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := known OR FOUND;
    DELETE FROM holdfast.verifications AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := known OR FOUND;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT of_shard, of_channel, of_key, claim.created_at, 'session', claim.did WHERE NOT claim.in_audit;
    WITH registered AS (
        DELETE FROM holdfast.credentials AS t
        WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key
        RETURNING t.credential_shard, t.credential, t.did, t.created_at, t.in_audit
    ), unplaced AS (
        DELETE FROM holdfast.credential_places AS p USING registered AS r
        WHERE p.shard = r.credential_shard AND p.credential = r.credential
            AND p.identifier_shard = of_shard AND p.channel = of_channel AND p.key = of_key
    ), recorded AS (
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT of_shard, of_channel, of_key, r.created_at, 'registered', r.did FROM registered AS r
        WHERE NOT r.in_audit ORDER BY r.created_at
    )
    SELECT array_agg(DISTINCT r.did) INTO dids FROM registered AS r;
    PERFORM holdfast.forget_dids_v1(of_shard, of_channel, of_key, dids);
    IF NOT known THEN
        RETURN false;
    END IF;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (of_shard, of_channel, of_key, at, 'released', claim.did);
    RETURN true;
END
$$;

-- Removes at most this many rows of each kind that no rule looks at any more; how many went.
CREATE OR REPLACE FUNCTION holdfast.expire_v1(horizon double precision, day double precision, refused_kept double precision, most bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    removed bigint := 0;
    part bigint;
BEGIN
    DELETE FROM holdfast.codes WHERE (shard, channel, key) IN (
        SELECT shard, channel, key FROM holdfast.codes WHERE expires_at < horizon LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.used_attestations WHERE (shard, signature) IN (
        SELECT shard, signature FROM holdfast.used_attestations
        WHERE expires_at < horizon LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.windows WHERE (shard, what, subject) IN (
        SELECT shard, what, subject FROM holdfast.windows
        WHERE last_at < horizon - day LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    WITH gone AS (
        DELETE FROM holdfast.credentials WHERE (shard, channel, key, credential) IN (
            SELECT shard, channel, key, credential FROM holdfast.credentials
            WHERE confirmation = 'refused' AND settled_at < horizon - refused_kept LIMIT most FOR UPDATE SKIP LOCKED)
        RETURNING shard, channel, key, created_at, did, in_audit
    ), recorded AS (
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT shard, channel, key, created_at, 'registered', did FROM gone WHERE NOT in_audit
    )
    SELECT count(*) INTO part FROM gone;
    removed := removed + part;
    DELETE FROM holdfast.audit WHERE (shard, channel, key, id) IN (
        SELECT shard, channel, key, id FROM holdfast.audit
        WHERE action IN ('code_sent', 'refused') AND at < horizon - refused_kept LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    RETURN removed + part;
END
$$;
