-- Notes that credentials were asked about, and when each is due again.
CREATE FUNCTION holdfast.put_off_v1(shards smallint[], credential_ids text[], ask_ats double precision[])
RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    PERFORM 1 FROM (
        SELECT 1 FROM unnest(shards, credential_ids) AS w (shard, credential)
        JOIN holdfast.credential_places AS p USING (shard, credential)
        JOIN holdfast.credentials AS c ON c.shard = p.identifier_shard AND c.channel = p.channel
            AND c.key = p.key AND c.credential = p.credential
        ORDER BY c.shard, c.channel, c.key, c.credential FOR UPDATE OF c
    ) AS locked;
    UPDATE holdfast.credentials AS c SET asked = c.asked + 1, ask_at = w.ask_at
    FROM unnest(shards, credential_ids, ask_ats) AS w (shard, credential, ask_at)
    JOIN holdfast.credential_places AS p USING (shard, credential)
    WHERE c.shard = p.identifier_shard AND c.channel = p.channel AND c.key = p.key
        AND c.credential = p.credential AND c.confirmation = 'pending';
END
$$;

-- Locks the identifier that a credential is registered for, which precedes every other lock; no row without one.
CREATE FUNCTION holdfast.lock_identifier_of_v1(credential_shard smallint, credential_id text)
RETURNS SETOF holdfast.credential_places LANGUAGE sql VOLATILE AS $$
    SELECT p.* FROM holdfast.credential_places AS p
    JOIN holdfast.identifiers AS i ON i.shard = p.identifier_shard AND i.channel = p.channel AND i.key = p.key
    WHERE p.shard = credential_shard AND p.credential = credential_id FOR UPDATE OF i
$$;

-- Makes an identifier without any registration a session again.
CREATE FUNCTION holdfast.back_to_session_v1(identifier_shard smallint, of_channel text, of_key text, held text[])
RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE holdfast.identifiers SET stage = 'session', registered_at = NULL
    WHERE shard = identifier_shard AND channel = of_channel AND key = of_key AND NOT EXISTS (
        SELECT 1 FROM holdfast.credentials AS c
        WHERE c.shard = identifier_shard AND c.channel = of_channel AND c.key = of_key
            AND c.confirmation = ANY (held))
$$;

-- Forgets that DIDs have credentials for an identifier, if they have none. Only while the identifier is locked.
CREATE FUNCTION holdfast.forget_dids_v1(of_shard smallint, of_channel text, of_key text, dids text[]) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM holdfast.did_identifiers AS t USING unnest(dids) AS w (did)
    WHERE t.shard = holdfast.shard_of_v1(w.did) AND t.did = w.did AND t.channel = of_channel AND t.key = of_key
        AND NOT EXISTS (SELECT 1 FROM holdfast.credentials AS c
            WHERE c.shard = of_shard AND c.channel = of_channel AND c.key = of_key AND c.did = w.did)
$$;

-- Records what the chain says; false when it was settled before.
CREATE FUNCTION holdfast.settle_v1(
    credential_shard smallint, credential_id text, outcome text, block bigint, at double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    place holdfast.credential_places;
    registered_did text;
BEGIN
    SELECT * INTO place FROM holdfast.lock_identifier_of_v1(credential_shard, credential_id);
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE holdfast.credentials AS c
    SET confirmation = outcome, block_number = coalesce(block, c.block_number), settled_at = at
    WHERE c.shard = place.identifier_shard AND c.channel = place.channel AND c.key = place.key
        AND c.credential = credential_id AND c.confirmation = 'pending' RETURNING c.did INTO registered_did;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF outcome = 'refused' THEN
        DELETE FROM holdfast.credential_places AS p WHERE p.shard = credential_shard AND p.credential = credential_id;
        PERFORM holdfast.back_to_session_v1(
            place.identifier_shard, place.channel, place.key, ARRAY['pending', 'confirmed']);
    END IF;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (place.identifier_shard, place.channel, place.key, at, outcome, registered_did);
    RETURN true;
END
$$;

-- Records the transaction of a registration that stated none, which is confirmed from then on; `done` is false if it is
-- not that registration any more.
CREATE FUNCTION holdfast.add_transaction_v1(
    credential_shard smallint, credential_id text, of_channel text, of_key text, of_did text, instead_of text,
    new_hash text, account text, block bigint, at double precision
) RETURNS TABLE (n integer, done boolean) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    place holdfast.credential_places;
BEGIN
    SELECT * INTO place FROM holdfast.lock_identifier_of_v1(credential_shard, credential_id);
    UPDATE holdfast.credentials AS c
    SET tx_hash = new_hash, smart_account = account, block_number = block, confirmation = 'confirmed', settled_at = at
    WHERE c.shard = place.identifier_shard AND c.channel = place.channel AND c.key = place.key
        AND c.channel = of_channel AND c.key = of_key AND c.credential = credential_id AND c.did = of_did
        AND c.tx_hash = instead_of AND c.confirmation = 'pending';
    n := 1;
    done := FOUND;
    IF done THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        VALUES (place.identifier_shard, of_channel, of_key, add_transaction_v1.at, 'confirmed', of_did);
    END IF;
    RETURN NEXT;
END
$$;

-- Removes a credential. An identifier that keeps none, or only refused ones, is a session again.
CREATE FUNCTION holdfast.revoke_credential_v1(credential_shard smallint, credential_id text, at double precision)
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

-- Frees an identifier's claim: the claim and its credentials go. A session does not own code and verification.
CREATE FUNCTION holdfast.release_claim_v1(of_shard smallint, of_channel text, of_key text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    claim holdfast.identifiers;
    dids text[];
BEGIN
    DELETE FROM holdfast.identifiers AS t
    WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key RETURNING t.* INTO claim;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
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
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (of_shard, of_channel, of_key, at, 'released', claim.did);
    RETURN true;
END
$$;

-- Frees an identifier: its claim, credentials, code and verification go; the history stays.
CREATE FUNCTION holdfast.release_v1(of_shard smallint, of_channel text, of_key text, at double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    claimed boolean := holdfast.release_claim_v1(of_shard, of_channel, of_key, at);
    known boolean;
BEGIN
    DELETE FROM holdfast.codes AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := FOUND;
    DELETE FROM holdfast.verifications AS t WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key;
    known := known OR FOUND;
    IF known AND NOT claimed THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        VALUES (of_shard, of_channel, of_key, at, 'released', NULL);
    END IF;
    RETURN claimed OR known;
END
$$;

-- Takes a lease that is free, over or this holder's, or whose end is so late that a wrong clock must have set it.
CREATE FUNCTION holdfast.take_lease_v1(of_name text, of_holder text, at double precision, ttl double precision)
RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    INSERT INTO holdfast.leases AS t (name, holder, expires_at) VALUES (of_name, of_holder, at + ttl)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE t.holder = excluded.holder OR t.expires_at <= at OR t.expires_at > at + 10 * ttl;
    RETURN FOUND;
END
$$;

-- Removes at most this many rows of each kind that no rule looks at any more; how many went.
CREATE FUNCTION holdfast.expire_v1(horizon double precision, day double precision, refused_kept double precision, most bigint)
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
    removed := removed + part;
    DELETE FROM holdfast.outbox WHERE (shard, id) IN ( -- rules/events.py: GIVE_UP_S
        SELECT shard, id FROM holdfast.outbox WHERE at < horizon - 3 * day LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.invitations WHERE number IN (
        SELECT number FROM holdfast.invitations WHERE expires_at < horizon - day LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    RETURN removed + part;
END
$$;
