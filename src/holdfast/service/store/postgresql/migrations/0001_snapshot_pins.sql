-- What decides about a pin: a verdict, with the request that the same token made before, or how many of the DID's pins
-- stay once those that make way for it are gone.
CREATE FUNCTION holdfast.snapshot_pin_facts_v1(
    of_shard smallint, of_did text, token_shard smallint, of_token bytea, of_kind text, of_what text,
    root text, root_shard smallint, replaced text
) RETURNS TABLE (verdict text, before text, stay bigint) LANGUAGE plpgsql STABLE
SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    used record;
    is_again boolean;
    is_missing boolean;
BEGIN
    SELECT t.what, t.made INTO used FROM holdfast.snapshot_tokens AS t
    WHERE t.shard = token_shard AND t.token = of_token AND t.kind = of_kind;
    before := CASE WHEN used.what = of_what THEN used.made END;
    SELECT count(*) INTO stay FROM holdfast.snapshot_pins AS t
    WHERE t.shard = of_shard AND t.did = of_did AND t.state <> 'failed'
        AND NOT (t.request_id = coalesce(replaced, '') OR (t.cid = root AND t.by_import));
    is_again := used.what IS NOT NULL AND EXISTS (SELECT 1 FROM holdfast.snapshot_pins AS t
        WHERE t.shard = of_shard AND t.did = of_did AND t.request_id = before);
    is_missing := replaced IS NOT NULL AND NOT EXISTS (SELECT 1 FROM holdfast.snapshot_pins AS t
        WHERE t.shard = of_shard AND t.did = of_did AND t.request_id = replaced);
    verdict := CASE
        WHEN is_again THEN 'again'
        WHEN used.what IS NOT NULL THEN 'token_used'
        WHEN is_missing THEN 'missing'
        WHEN holdfast.snapshot_is_anothers_v1(root_shard, root, of_did) THEN 'another_did'
        ELSE 'facts'
    END;
    RETURN NEXT;
END
$$;

-- Writes a pin in place of those that make way, if as many stay as were seen. With `done` and `again` the pin comes back.
CREATE FUNCTION holdfast.snapshot_add_pin_v1(
    of_shard smallint, of_did text, token_shard smallint, of_token bytea, of_kind text, of_what text,
    root text, root_shard smallint, replaced text,
    request text, of_name bytea, of_origins text, of_meta text, at double precision, token_until double precision,
    seen bigint
) RETURNS TABLE (
    verdict text, stay bigint, request_id text, did text, cid text, name bytea, origins text, meta text, state text,
    created_us bigint, size bigint
) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    facts record;
    gone text[];
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    SELECT * INTO facts FROM holdfast.snapshot_pin_facts_v1(
        of_shard, of_did, token_shard, of_token, of_kind, of_what, root, root_shard, replaced);
    IF facts.verdict = 'again' THEN
        RETURN QUERY SELECT 'again', facts.stay, p.*
        FROM holdfast.snapshot_one_pin_v1(of_shard, of_did, facts.before) AS p;
        RETURN;
    END IF;
    IF facts.verdict <> 'facts' OR facts.stay <> seen THEN
        verdict := facts.verdict;
        stay := facts.stay;
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO holdfast.snapshot_tokens (shard, token, kind, what, made, until)
    VALUES (token_shard, of_token, of_kind, of_what, request, token_until);
    WITH out AS (
        DELETE FROM holdfast.snapshot_pins AS t WHERE t.shard = of_shard AND t.did = of_did
            AND (t.request_id = coalesce(replaced, '') OR (t.cid = root AND t.by_import)) RETURNING t.cid
    ) SELECT coalesce(array_agg(o.cid), '{}') INTO gone FROM out AS o;
    PERFORM holdfast.snapshot_count_v1(of_shard, 0, -cardinality(gone)::bigint, 0);
    PERFORM holdfast.snapshot_insert_pin_v1(of_shard, of_did, request, root, of_name, of_origins, of_meta,
        CASE WHEN EXISTS (SELECT 1 FROM holdfast.snapshot_roots AS r
            WHERE r.shard = of_shard AND r.did = of_did AND r.cid = root) THEN 'pinned' ELSE 'queued' END, at, false);
    IF holdfast.snapshot_drop_v1(of_shard, of_did, gone, at) > 0 THEN
        PERFORM holdfast.snapshot_sweep_v1(of_shard, of_did);
    END IF;
    RETURN QUERY SELECT 'done', facts.stay, p.* FROM holdfast.snapshot_one_pin_v1(of_shard, of_did, request) AS p;
END
$$;

CREATE FUNCTION holdfast.snapshot_remove_pin_v1(of_shard smallint, of_did text, request text, at double precision)
RETURNS TABLE (done boolean) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    root text;
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    DELETE FROM holdfast.snapshot_pins AS t
    WHERE t.shard = of_shard AND t.did = of_did AND t.request_id = request RETURNING t.cid INTO root;
    done := FOUND;
    IF done THEN
        PERFORM holdfast.snapshot_count_v1(of_shard, 0, -1, 0);
        IF holdfast.snapshot_drop_v1(of_shard, of_did, ARRAY[root], at) > 0 THEN
            PERFORM holdfast.snapshot_sweep_v1(of_shard, of_did);
        END IF;
    END IF;
    RETURN NEXT;
END
$$;

CREATE FUNCTION holdfast.snapshot_revoke_v1(
    of_shard smallint, of_did text, of_cid text, at double precision, ends double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    INSERT INTO holdfast.snapshot_revocations AS t (shard, did, cid, before, until)
    VALUES (of_shard, of_did, of_cid, at, ends)
    ON CONFLICT (shard, did, cid) DO UPDATE
    SET before = greatest(t.before, excluded.before), until = greatest(t.until, excluded.until);
    RETURN true;
END
$$;

-- The DID whose pinned snapshot binds a name to it, and the record that is kept under the name.
CREATE FUNCTION holdfast.snapshot_name_facts_v1(name_shard smallint, of_name text, root_shard smallint, of_root text)
RETURNS TABLE (
    owner_shard smallint, owner text, did text, root text, sequence bigint, validity_ns text, record bytea
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    one record;
BEGIN
    SELECT t.did, t.root, t.sequence, t.validity_ns, t.record INTO did, root, sequence, validity_ns, record
    FROM holdfast.snapshot_names AS t WHERE t.shard = name_shard AND t.name = of_name;
    FOR one IN SELECT p.did_shard, p.did FROM holdfast.snapshot_places AS p
        WHERE p.shard = root_shard AND p.cid = of_root
    LOOP
        PERFORM 1 FROM holdfast.snapshot_roots AS r
        WHERE r.shard = one.did_shard AND r.did = one.did AND r.cid = of_root AND r.publisher = of_name AND EXISTS (
            SELECT 1 FROM holdfast.snapshot_pins AS t
            WHERE t.shard = one.did_shard AND t.did = one.did AND t.cid = of_root AND t.state = 'pinned');
        IF FOUND THEN
            owner_shard := one.did_shard;
            owner := one.did;
            EXIT;
        END IF;
    END LOOP;
    RETURN NEXT;
END
$$;

-- Keeps a record in place of the one that was seen, while its snapshot still binds the name to the same DID.
CREATE FUNCTION holdfast.snapshot_publish_v1(
    name_shard smallint, of_name text, root_shard smallint, of_root text, of_owner_shard smallint, of_owner text,
    of_sequence bigint, of_validity text, of_ttl bigint, given bytea, at double precision, seen bytea
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_owner_shard);
    IF NOT EXISTS (
        SELECT 1 FROM holdfast.snapshot_name_facts_v1(name_shard, of_name, root_shard, of_root) AS f
        WHERE f.owner = of_owner AND coalesce(f.did, of_owner) = of_owner
    ) THEN
        RETURN false;
    END IF;
    INSERT INTO holdfast.snapshot_names AS t
        (shard, name, did, root, sequence, validity_ns, ttl_ns, record, updated_at)
    VALUES (name_shard, of_name, of_owner, of_root, of_sequence, of_validity, of_ttl, given, at)
    ON CONFLICT (shard, name) DO UPDATE SET root = excluded.root, sequence = excluded.sequence,
        validity_ns = excluded.validity_ns, ttl_ns = excluded.ttl_ns, record = excluded.record, updated_at = excluded.updated_at
    WHERE t.record = seen AND t.did = of_owner;
    RETURN FOUND;
END
$$;
