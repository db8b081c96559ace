-- Uploads. A rule decides in the service on facts that it has read; a function writes only while these facts hold, and
-- otherwise returns the newer ones.

CREATE FUNCTION holdfast.snapshot_begin_v1(
    of_shard smallint, of_did text, upload_id text, ends double precision, seen text, granted bigint
) RETURNS TABLE (done boolean, facts bigint[]) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    facts := holdfast.snapshot_usage_v1(of_shard, of_did, '');
    done := facts = seen::bigint[];
    IF done THEN
        INSERT INTO holdfast.snapshot_uploads AS t (shard, did, upload, bytes, expires_at)
        VALUES (of_shard, of_did, upload_id, granted, ends);
    END IF;
    RETURN NEXT;
END
$$;

-- The numbers of blocks, in their order; none for an upload that is over. `given` is a JSON list of [CID, shard, number,
-- size]; a block that the DID has keeps its number.
CREATE FUNCTION holdfast.snapshot_insert_v1(of_shard smallint, of_did text, upload_id text, given text)
RETURNS TABLE (numbers bigint[]) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    cids text[];
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    SELECT array_agg(b ->> 0 ORDER BY n) INTO cids FROM json_array_elements(given::json) WITH ORDINALITY AS w (b, n);
    UPDATE holdfast.snapshot_uploads AS t
    SET blocks = array(SELECT DISTINCT c FROM unnest(t.blocks || cids) AS c)
    WHERE t.shard = of_shard AND t.did = of_did AND t.upload = upload_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO holdfast.snapshot_blocks (shard, did, cid, cid_shard, number, size)
    SELECT of_shard, of_did, b ->> 0, (b ->> 1)::smallint, (b ->> 2)::bigint, (b ->> 3)::bigint
    FROM json_array_elements(given::json) AS w (b) ON CONFLICT DO NOTHING;
    SELECT array_agg(t.number ORDER BY w.n) INTO numbers FROM unnest(cids) WITH ORDINALITY AS w (cid, n)
    JOIN holdfast.snapshot_blocks AS t ON t.shard = of_shard AND t.did = of_did AND t.cid = w.cid;
    RETURN NEXT;
END
$$;

-- What decides about a snapshot whose blocks are stored: a verdict, or `facts`: whether it is new, what the DID keeps
-- without this upload, whether a pin is to be written, and what the DID will keep then.
CREATE FUNCTION holdfast.snapshot_finish_facts_v1(
    of_shard smallint, of_did text, upload_id text, token_shard smallint, of_token bytea, of_kind text, of_what text,
    root text, root_shard smallint, root_size bigint, pin text
) RETURNS TABLE (verdict text, facts bigint[]) LANGUAGE plpgsql STABLE
SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    other bigint[] := holdfast.snapshot_usage_v1(of_shard, of_did, upload_id);
    reserved bigint;
    is_new boolean;
    needs_pin boolean;
    failed bigint;
    token_used boolean;
BEGIN
    SELECT t.bytes INTO reserved FROM holdfast.snapshot_uploads AS t
    WHERE t.shard = of_shard AND t.did = of_did AND t.upload = upload_id;
    is_new := NOT EXISTS (SELECT 1 FROM holdfast.snapshot_roots AS t
        WHERE t.shard = of_shard AND t.did = of_did AND t.cid = root);
    SELECT pin IS NOT NULL AND count(*) = 0, count(*) FILTER (WHERE t.state = 'failed') INTO needs_pin, failed
    FROM holdfast.snapshot_pins AS t WHERE t.shard = of_shard AND t.did = of_did AND t.cid = root;
    token_used := EXISTS (SELECT 1 FROM holdfast.snapshot_tokens AS t WHERE t.shard = token_shard
        AND t.token = of_token AND t.kind = of_kind AND t.what <> of_what);
    verdict := CASE
        WHEN reserved IS NULL THEN 'over'
        WHEN token_used THEN 'token_used'
        WHEN is_new AND holdfast.snapshot_is_anothers_v1(root_shard, root, of_did) THEN 'another_did'
        ELSE 'facts'
    END;
    facts := ARRAY[is_new::integer::bigint] || other || ARRAY[
        needs_pin::integer::bigint, other[1] + CASE WHEN is_new THEN root_size ELSE 0 END, other[2] + reserved,
        other[3] + failed, other[4] + is_new::integer];
    RETURN NEXT;
END
$$;

-- Keeps a snapshot and ends its upload, if the facts are still those that were seen. `blocks` is a JSON list of CIDs.
CREATE FUNCTION holdfast.snapshot_finish_v1(
    of_shard smallint, of_did text, upload_id text, token_shard smallint, of_token bytea, of_kind text, of_what text,
    root text, root_shard smallint, root_size bigint, pin text,
    token_until double precision, root_blocks text, of_publisher text, held double precision, at double precision,
    seen text
) RETURNS TABLE (verdict text, facts bigint[]) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
DECLARE
    linked text[] := array(SELECT json_array_elements_text(root_blocks::json));
    more bigint;
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    SELECT f.verdict, f.facts INTO verdict, facts FROM holdfast.snapshot_finish_facts_v1(
        of_shard, of_did, upload_id, token_shard, of_token, of_kind, of_what, root, root_shard, root_size, pin) AS f;
    IF verdict <> 'facts' OR facts <> seen::bigint[] THEN
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO holdfast.snapshot_tokens (shard, token, kind, what, made, until)
    VALUES (token_shard, of_token, of_kind, of_what, root, token_until) ON CONFLICT DO NOTHING;
    IF facts[1] = 1 THEN
        INSERT INTO holdfast.snapshot_roots (shard, did, cid, size, publisher, held_until, created_at, blocks)
        VALUES (of_shard, of_did, root, root_size, of_publisher, held, at, linked);
        WITH stored AS (
            UPDATE holdfast.snapshot_blocks AS t SET stored = true
            WHERE t.shard = of_shard AND t.did = of_did AND t.cid = ANY (linked) AND NOT t.stored RETURNING t.size
        ) SELECT coalesce(sum(size), 0) INTO more FROM stored;
        PERFORM holdfast.snapshot_count_v1(of_shard, 1, 0, more);
        INSERT INTO holdfast.snapshot_places (shard, cid, did, did_shard, number, size)
        SELECT t.cid_shard, t.cid, of_did, of_shard, t.number, t.size FROM holdfast.snapshot_blocks AS t
        WHERE t.shard = of_shard AND t.did = of_did AND t.cid = ANY (linked)
        ORDER BY t.cid_shard, t.cid ON CONFLICT DO NOTHING;
    ELSE
        UPDATE holdfast.snapshot_roots AS t SET held_until = greatest(t.held_until, held)
        WHERE t.shard = of_shard AND t.did = of_did AND t.cid = root;
    END IF;
    UPDATE holdfast.snapshot_pins AS t SET state = 'pinned'
    WHERE t.shard = of_shard AND t.did = of_did AND t.cid = root AND t.state IN ('queued', 'failed');
    IF facts[6] = 1 THEN
        PERFORM holdfast.snapshot_insert_pin_v1(of_shard, of_did, pin, root, NULL, '[]', '{}', 'pinned', at, true);
    END IF;
    DELETE FROM holdfast.snapshot_uploads AS t
    WHERE t.shard = of_shard AND t.did = of_did AND t.upload = upload_id;
    PERFORM holdfast.snapshot_sweep_v1(of_shard, of_did);
    verdict := 'done';
    RETURN NEXT;
END
$$;

CREATE FUNCTION holdfast.snapshot_end_v1(of_shard smallint, of_did text, upload_id text)
RETURNS TABLE (done boolean) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    PERFORM holdfast.snapshot_turn_v1(of_shard);
    DELETE FROM holdfast.snapshot_uploads AS t
    WHERE t.shard = of_shard AND t.did = of_did AND t.upload = upload_id;
    done := FOUND;
    IF done THEN
        PERFORM holdfast.snapshot_sweep_v1(of_shard, of_did);
    END IF;
    RETURN NEXT;
END
$$;
