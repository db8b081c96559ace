-- Notes that credentials were asked about, and when each is due again.
CREATE FUNCTION holdfast.put_off_v1(shards smallint[], credential_ids text[], ask_ats double precision[])
RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    identifier_shards smallint[];
    channels text[];
    keys text[];
    credentials text[];
    due_ats double precision[];
BEGIN
    SELECT array_agg(p.identifier_shard ORDER BY p.identifier_shard, p.channel, p.key, p.credential),
        array_agg(p.channel ORDER BY p.identifier_shard, p.channel, p.key, p.credential),
        array_agg(p.key ORDER BY p.identifier_shard, p.channel, p.key, p.credential),
        array_agg(p.credential ORDER BY p.identifier_shard, p.channel, p.key, p.credential),
        array_agg(w.ask_at ORDER BY p.identifier_shard, p.channel, p.key, p.credential)
    INTO identifier_shards, channels, keys, credentials, due_ats
    FROM holdfast.credential_places AS p
    JOIN unnest(shards, credential_ids, ask_ats) AS w (shard, credential, ask_at) USING (shard, credential)
    WHERE (holdfast.one_server_v1() OR p.shard = ANY (shards));
    UPDATE holdfast.credentials AS c SET asked = c.asked + 1, ask_at = w.ask_at
    FROM unnest(identifier_shards, channels, keys, credentials, due_ats) AS w (shard, channel, key, credential, ask_at)
    WHERE c.shard = w.shard AND c.channel = w.channel AND c.key = w.key AND c.credential = w.credential
        AND (holdfast.one_server_v1() OR c.shard = ANY (identifier_shards)) AND c.confirmation = 'pending';
END
$$;

-- Locks the identifier that a credential is registered for, which precedes every other lock; no row without one.
CREATE FUNCTION holdfast.lock_identifier_of_v1(credential_shard smallint, credential_id text)
RETURNS SETOF holdfast.credential_places LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    place holdfast.credential_places;
BEGIN
    SELECT p.* INTO place FROM holdfast.credential_places AS p
    WHERE p.shard = credential_shard AND p.credential = credential_id;
    PERFORM 1 FROM holdfast.identifiers AS i
    WHERE i.shard = place.identifier_shard AND i.channel = place.channel AND i.key = place.key FOR UPDATE;
    IF FOUND THEN
        RETURN NEXT place;
    END IF;
END
$$;

-- Makes an identifier without any registration a session again, unless the DID's key added it.
CREATE FUNCTION holdfast.back_to_session_v1(identifier_shard smallint, of_channel text, of_key text, held text[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE holdfast.identifiers AS t SET stage = 'session', registered_at = NULL
    WHERE t.shard = identifier_shard AND t.channel = of_channel AND t.key = of_key AND NOT t.signed AND NOT EXISTS (
        SELECT 1 FROM holdfast.credentials AS c
        WHERE c.shard = identifier_shard AND c.channel = of_channel AND c.key = of_key
            AND c.confirmation = ANY (held));
END
$$;

-- Forgets that DIDs have credentials for an identifier, if they have none. Only while the identifier is locked.
CREATE FUNCTION holdfast.forget_dids_v1(of_shard smallint, of_channel text, of_key text, dids text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one text;
    did_shard smallint;
BEGIN
    FOREACH one IN ARRAY coalesce(dids, '{}') LOOP
        IF NOT EXISTS (SELECT 1 FROM holdfast.credentials AS c
            WHERE c.shard = of_shard AND c.channel = of_channel AND c.key = of_key AND c.did = one)
        THEN
            did_shard := holdfast.shard_of_v1(one);
            DELETE FROM holdfast.did_identifiers AS t
            WHERE t.shard = did_shard AND t.did = one AND t.channel = of_channel AND t.key = of_key;
        END IF;
    END LOOP;
END
$$;

-- Notes that DIDs lost a credential (see snapshot_orphans).
CREATE FUNCTION holdfast.note_orphans_v1(dids text[], at double precision) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('snapshot_orphans', dids);
    END IF;
    INSERT INTO holdfast.snapshot_orphans (shard, did, since)
    SELECT DISTINCT holdfast.shard_of_v1(w.did), w.did, note_orphans_v1.at FROM unnest(dids) AS w (did)
    WHERE w.did IS NOT NULL ORDER BY 1, 2
    ON CONFLICT (shard, did) DO UPDATE SET since = excluded.since;
END
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
        PERFORM holdfast.note_orphans_v1(ARRAY[registered_did], at);
    END IF;
    PERFORM holdfast.record_v1(place.identifier_shard, place.channel, place.key, at, outcome, registered_did);
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
        PERFORM holdfast.record_v1(place.identifier_shard, of_channel, of_key, at, 'confirmed', of_did);
    END IF;
    RETURN NEXT;
END
$$;

-- Removes a credential. An identifier that keeps none, or only refused ones, goes through back_to_session_v1.
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
    IF NOT gone.in_audit THEN
        PERFORM holdfast.record_v1(
            place.identifier_shard, place.channel, place.key, gone.created_at, 'registered', gone.did);
    END IF;
    PERFORM holdfast.record_v1(place.identifier_shard, place.channel, place.key, at, 'credential_revoked', gone.did);
    PERFORM holdfast.note_orphans_v1(ARRAY[gone.did], 0);
    RETURN true;
END
$$;

-- Removes all credentials of an identifier, which is locked; their DIDs. `recording`: whether what their rows tell goes
-- into the audit.
CREATE FUNCTION holdfast.remove_credentials_v1(of_shard smallint, of_channel text, of_key text, recording boolean)
RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one holdfast.credentials;
    gone holdfast.credentials[];
BEGIN
    WITH removed AS (
        DELETE FROM holdfast.credentials AS t
        WHERE t.shard = of_shard AND t.channel = of_channel AND t.key = of_key RETURNING t.*
    ) SELECT array_agg(ROW(r.*)::holdfast.credentials ORDER BY r.created_at) INTO gone FROM removed AS r;
    FOREACH one IN ARRAY coalesce(gone, '{}') LOOP
        DELETE FROM holdfast.credential_places AS p
        WHERE p.shard = one.credential_shard AND p.credential = one.credential
            AND p.identifier_shard = of_shard AND p.channel = of_channel AND p.key = of_key;
        IF recording AND NOT one.in_audit THEN
            PERFORM holdfast.record_v1(of_shard, of_channel, of_key, one.created_at, 'registered', one.did);
        END IF;
    END LOOP;
    PERFORM holdfast.note_orphans_v1(
        array(SELECT DISTINCT g.did FROM unnest(gone) AS g WHERE g.confirmation <> 'refused'), 0);
    RETURN array(SELECT DISTINCT g.did FROM unnest(gone) AS g);
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
    dids := holdfast.remove_credentials_v1(of_shard, of_channel, of_key, true);
    PERFORM holdfast.forget_dids_v1(of_shard, of_channel, of_key, dids);
    PERFORM holdfast.record_v1(of_shard, of_channel, of_key, at, 'released', claim.did);
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
        PERFORM holdfast.record_v1(of_shard, of_channel, of_key, at, 'released', NULL);
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

-- Removes credentials that the chain refused before this time, as at most this many of them say; how many went.
CREATE FUNCTION holdfast.expire_refused_v1(before double precision, most bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    one record;
    removed bigint := 0;
BEGIN
    FOR one IN SELECT DISTINCT c.shard, c.channel, c.key, c.did FROM (
        SELECT e.shard, e.channel, e.key, e.did FROM holdfast.credentials AS e
        WHERE e.confirmation = 'refused' AND e.settled_at < before LIMIT most
    ) AS c ORDER BY c.shard, c.channel, c.key, c.did
    LOOP
        removed := removed + holdfast.remove_refused_v1(one.did, one.shard, one.channel, one.key, before);
    END LOOP;
    RETURN removed;
END
$$;

-- Removes at most this many rows of each kind that no rule looks at any more, without those that a request has locked: two
-- that wait for each other would both fail. How many went.
CREATE FUNCTION holdfast.expire_v1(horizon double precision, day double precision, refused_kept double precision, most bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    removed bigint := 0;
    part bigint;
BEGIN
    DELETE FROM holdfast.codes AS t USING (
        SELECT e.shard, e.channel, e.key FROM holdfast.codes AS e WHERE e.expires_at < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.expires_at < horizon;
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.used_attestations AS t USING (
        SELECT e.shard, e.signature FROM holdfast.used_attestations AS e WHERE e.expires_at < horizon LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.signature = w.signature;
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.windows AS t USING (
        SELECT e.shard, e.what, e.subject FROM holdfast.windows AS e WHERE e.last_at < horizon - day LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.what = w.what AND t.subject = w.subject AND t.last_at < horizon - day;
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.audit AS t USING (
        SELECT e.shard, e.channel, e.key, e.id FROM holdfast.audit AS e
        WHERE e.action IN ('code_sent', 'refused') AND e.at < horizon - refused_kept LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.id = w.id;
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.outbox AS t USING ( -- rules/events.py: GIVE_UP_S
        SELECT e.shard, e.id FROM holdfast.outbox AS e WHERE e.at < horizon - 3 * day LIMIT most FOR UPDATE SKIP LOCKED
    ) AS w WHERE t.shard = w.shard AND t.id = w.id;
    GET DIAGNOSTICS part = ROW_COUNT;
    removed := removed + part;
    DELETE FROM holdfast.invitations WHERE number IN (
        SELECT number FROM holdfast.invitations WHERE expires_at < horizon - day LIMIT most FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS part = ROW_COUNT;
    RETURN removed + part;
END
$$;
