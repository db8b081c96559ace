-- rules/shards.py, of an identifier.
CREATE FUNCTION holdfast.shard_of_name_v1(of_channel text, of_key text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT ((get_byte(h, 0) << 4) | (get_byte(h, 1) >> 4))::smallint
    FROM sha256(convert_to(of_channel, 'UTF8') || '\x00'::bytea || convert_to(of_key, 'UTF8')) AS h
$$;

-- rules/pseudonyms.py: HMAC-SHA-256 (RFC 2104) of two texts, with the key's inner and outer block.
CREATE FUNCTION holdfast.pseudonym_v1(inner_block bytea, outer_block bytea, kind text, name text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT 'hash ' || left(encode(sha256(outer_block || sha256(
        inner_block || convert_to(kind, 'UTF8') || '\x00'::bytea || convert_to(name, 'UTF8'))), 'hex'), 32)
$$;

-- Writes rows of the audit with the hashes of their names and DIDs.
CREATE FUNCTION holdfast.insert_hidden_v1(named holdfast.audit[], inner_block bytea, outer_block bytea) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.audit (shard, channel, key, id, at, action, did, operator)
    SELECT holdfast.shard_of_name_v1(w.channel, h.key), w.channel, h.key, w.id, w.at, w.action,
        holdfast.pseudonym_v1(inner_block, outer_block, 'did', w.did), w.operator
    FROM unnest(named) AS w
    CROSS JOIN LATERAL (SELECT holdfast.pseudonym_v1(inner_block, outer_block, w.channel, w.key) AS key) AS h;
END
$$;

-- Replaces name and DID by their hashes in the audit's rows that are a DID's, or those of a name: the DID's own, and
-- from `since` on those without a DID.
CREATE FUNCTION holdfast.hide_person_v1(
    of_did text, name_shard smallint, of_channel text, of_key text, since double precision, inner_block bytea,
    outer_block bytea
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    named holdfast.audit[];
BEGIN
    IF of_key IS NULL THEN
        WITH gone AS (
            DELETE FROM holdfast.audit AS t WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did RETURNING t.*
        ) SELECT array_agg(ROW(g.*)::holdfast.audit) INTO named FROM gone AS g;
    ELSE
        WITH gone AS (
            DELETE FROM holdfast.audit AS t WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key
                AND (t.did = of_did OR (t.did IS NULL AND t.at >= since)) RETURNING t.*
        ) SELECT array_agg(ROW(g.*)::holdfast.audit) INTO named FROM gone AS g;
    END IF;
    PERFORM holdfast.insert_hidden_v1(named, inner_block, outer_block);
END
$$;

-- Frees an identifier that a DID holds; how many of its credentials went with it, null if the DID does not hold it. A
-- session proves nothing, so code, verification and what the audit tells of the name alone stay unless it is registered.
CREATE FUNCTION holdfast.release_own_v1(
    of_did text, name_shard smallint, of_channel text, of_key text, inner_block bytea, outer_block bytea,
    at double precision
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    claim holdfast.identifiers;
    since double precision;
    registered bigint;
BEGIN
    SELECT t.* INTO claim FROM holdfast.identifiers AS t
    WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key AND t.did = of_did FOR UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT count(*) INTO registered FROM holdfast.credentials AS t
    WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key AND t.did = of_did;
    IF claim.stage = 'registered' THEN
        PERFORM holdfast.release_v1(name_shard, of_channel, of_key, at);
        since := claim.created_at;
    ELSE
        PERFORM holdfast.release_claim_v1(name_shard, of_channel, of_key, at);
    END IF;
    PERFORM holdfast.forget_recoveries_v1(of_did, of_channel, of_key);
    PERFORM holdfast.hide_person_v1(of_did, name_shard, of_channel, of_key, since, inner_block, outer_block);
    RETURN registered;
END
$$;

-- Removes the credentials of a DID for an identifier that the chain refused before this time; how many.
CREATE FUNCTION holdfast.remove_refused_v1(
    of_did text, name_shard smallint, of_channel text, of_key text, before double precision
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM 1 FROM holdfast.identifiers AS t
    WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key FOR UPDATE;
    WITH refused AS (
        DELETE FROM holdfast.credentials AS t
        WHERE t.shard = name_shard AND t.channel = of_channel AND t.key = of_key AND t.did = of_did
            AND t.confirmation = 'refused' AND t.settled_at < before
        RETURNING t.created_at, t.in_audit
    ), recorded AS (
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT name_shard, of_channel, of_key, r.created_at, 'registered', of_did FROM refused AS r WHERE NOT r.in_audit
    )
    SELECT count(*) INTO gone FROM refused;
    PERFORM holdfast.forget_dids_v1(name_shard, of_channel, of_key, ARRAY[of_did]);
    RETURN gone;
END
$$;

-- Removes everything of a DID; how many identifiers, credentials, snapshots and pins went. Only while it is the shard's
-- turn.
CREATE FUNCTION holdfast.remove_person_v1(
    of_shard smallint, of_did text, inner_block bytea, outer_block bytea, at double precision
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one record;
    registered bigint;
    gone bigint[] := '{0,0,0,0}';
    part bigint;
    shards smallint[];
    channels text[];
    keys text[];
BEGIN
    SELECT array_agg(w.shard), array_agg(w.channel), array_agg(w.key) INTO shards, channels, keys FROM (
        SELECT t.shard, t.channel, t.key FROM holdfast.identifiers AS t
        WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did
        UNION SELECT d.identifier_shard, d.channel, d.key FROM holdfast.did_identifiers AS d
        WHERE d.shard = of_shard AND d.did = of_did ORDER BY 1, 2, 3
    ) AS w;
    PERFORM holdfast.lock_identifiers_v1(shards, channels, keys); -- all of them precede every other lock
    FOR one IN SELECT w.* FROM unnest(shards, channels, keys) AS w (shard, channel, key) LOOP
        registered := holdfast.release_own_v1(of_did, one.shard, one.channel, one.key, inner_block, outer_block, at);
        gone[1] := gone[1] + (registered IS NOT NULL)::integer;
        gone[2] := gone[2]
            + coalesce(registered, holdfast.remove_refused_v1(of_did, one.shard, one.channel, one.key, 'infinity'));
    END LOOP;
    PERFORM holdfast.forget_recoveries_v1(of_did, NULL, NULL);
    DELETE FROM holdfast.snapshot_names AS t WHERE right(t.did, 12) = right(of_did, 12) AND t.did = of_did;
    DELETE FROM holdfast.snapshot_uploads AS t WHERE t.shard = of_shard AND t.did = of_did;
    DELETE FROM holdfast.snapshot_pins AS t WHERE t.shard = of_shard AND t.did = of_did;
    GET DIAGNOSTICS part = ROW_COUNT;
    gone[4] := part;
    DELETE FROM holdfast.snapshot_roots AS t WHERE t.shard = of_shard AND t.did = of_did;
    GET DIAGNOSTICS part = ROW_COUNT;
    gone[3] := part;
    PERFORM holdfast.snapshot_count_v1(of_shard, -gone[3], -gone[4], 0);
    PERFORM holdfast.snapshot_sweep_v1(of_shard, of_did);
    DELETE FROM holdfast.snapshot_orphans AS t WHERE t.shard = of_shard AND t.did = of_did;
    PERFORM holdfast.hide_person_v1(of_did, NULL, NULL, NULL, NULL, inner_block, outer_block);
    RETURN gone;
END
$$;

-- Removes one credential of a DID; how many went.
CREATE FUNCTION holdfast.revoke_own_v1(
    of_did text, id_shard smallint, credential_id text, at double precision
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    place holdfast.credential_places;
BEGIN
    SELECT * INTO place FROM holdfast.lock_identifier_of_v1(id_shard, credential_id);
    PERFORM 1 FROM holdfast.credentials AS c
    WHERE c.shard = place.identifier_shard AND c.channel = place.channel AND c.key = place.key
        AND c.credential = credential_id AND c.did = of_did;
    IF FOUND THEN
        RETURN holdfast.revoke_credential_v1(id_shard, credential_id, at)::integer;
    END IF;
    RETURN 0;
END
$$;

-- Removes a credential or an identifier of a DID, or everything of it if neither is given, once for each token; how many
-- identifiers, credentials, snapshots and pins went.
CREATE FUNCTION holdfast.take_back_v1(
    of_shard smallint, of_did text, credential_shard smallint, credential_id text, name_shard smallint, of_channel text,
    of_key text, token_shard smallint, of_token bytea, token_until double precision, inner_block bytea,
    outer_block bytea, at double precision
) RETURNS text LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    before text;
    registered bigint;
    gone bigint[] := '{0,0,0,0}';
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    SELECT t.made INTO before FROM holdfast.snapshot_tokens AS t
    WHERE t.shard = token_shard AND t.token = of_token AND t.kind = 'person';
    IF FOUND THEN
        RETURN before;
    END IF;
    IF credential_id IS NOT NULL THEN
        gone[2] := holdfast.revoke_own_v1(of_did, credential_shard, credential_id, at);
    ELSIF of_key IS NOT NULL THEN
        registered := holdfast.release_own_v1(of_did, name_shard, of_channel, of_key, inner_block, outer_block, at);
        gone := ARRAY[(registered IS NOT NULL)::integer, coalesce(registered, 0), 0, 0];
    ELSE
        gone := holdfast.remove_person_v1(of_shard, of_did, inner_block, outer_block, at);
    END IF;
    INSERT INTO holdfast.snapshot_tokens (shard, token, kind, what, made, until)
    VALUES (token_shard, of_token, 'person', '', array_to_string(gone, ','), token_until);
    RETURN array_to_string(gone, ',');
END
$$;

-- Replaces names and DIDs in at most this many rows of the audit from before the horizon; how many rows.
CREATE FUNCTION holdfast.hide_names_v1(
    inner_block bytea, outer_block bytea, horizon double precision, most bigint
) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    named holdfast.audit[];
BEGIN
    WITH gone AS (
        DELETE FROM holdfast.audit AS t USING (
            SELECT e.shard, e.channel, e.key, e.id FROM holdfast.audit AS e
            WHERE e.at < horizon AND left(e.key, 5) <> 'hash ' LIMIT most FOR UPDATE SKIP LOCKED
        ) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.id = w.id RETURNING t.*
    ) SELECT array_agg(ROW(g.*)::holdfast.audit) INTO named FROM gone AS g;
    PERFORM holdfast.insert_hidden_v1(named, inner_block, outer_block);
    RETURN coalesce(cardinality(named), 0);
END
$$;
