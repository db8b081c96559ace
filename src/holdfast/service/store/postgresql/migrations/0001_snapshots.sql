CREATE TYPE holdfast.snapshot_pin_v1 AS (
    request_id text, did text, cid text, name bytea, origins text, meta text, state text, created_us bigint, size bigint
);

-- Waits for the turn of a shard. A transaction that needs several takes them in ascending order, and before other rows.
CREATE FUNCTION holdfast.snapshot_turn_v1(of_shard smallint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM 1 FROM holdfast.snapshot_shards AS t WHERE t.shard = of_shard FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO holdfast.snapshot_shards (shard) VALUES (of_shard) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM holdfast.snapshot_shards AS t WHERE t.shard = of_shard FOR UPDATE;
    END IF;
END
$$;

-- Takes the turn of a shard, or returns false while another transaction has it: upkeep comes again later.
CREATE FUNCTION holdfast.snapshot_try_turn_v1(of_shard smallint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.snapshot_shards (shard) VALUES (of_shard) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM holdfast.snapshot_shards AS t WHERE t.shard = of_shard FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$$;

CREATE FUNCTION holdfast.snapshot_count_v1(of_shard smallint, more_snapshots bigint, more_pins bigint, more_bytes bigint)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF (more_snapshots, more_pins, more_bytes) <> (0, 0, 0) THEN
        UPDATE holdfast.snapshot_shards AS t
        SET snapshots = t.snapshots + more_snapshots, pins = t.pins + more_pins, bytes = t.bytes + more_bytes
        WHERE t.shard = of_shard;
    END IF;
END
$$;

-- What a DID keeps: bytes of its snapshots, bytes reserved by its uploads but one, pins that have not failed, snapshots.
CREATE FUNCTION holdfast.snapshot_usage_v1(of_shard smallint, of_did text, but text) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY[
        (SELECT coalesce(sum(t.size), 0)::bigint FROM holdfast.snapshot_roots AS t
            WHERE t.shard = of_shard AND t.did = of_did),
        (SELECT coalesce(sum(t.bytes), 0)::bigint FROM holdfast.snapshot_uploads AS t
            WHERE t.shard = of_shard AND t.did = of_did AND t.upload <> but),
        (SELECT count(*) FROM holdfast.snapshot_pins AS t
            WHERE t.shard = of_shard AND t.did = of_did AND t.state <> 'failed'),
        (SELECT count(*) FROM holdfast.snapshot_roots AS t WHERE t.shard = of_shard AND t.did = of_did)
    ];
END
$$;

-- Whether another DID keeps a snapshot.
CREATE FUNCTION holdfast.snapshot_is_anothers_v1(root_shard smallint, root text, of_did text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT p.did_shard, p.did FROM holdfast.snapshot_places AS p
        WHERE p.shard = root_shard AND p.cid = root AND p.did <> of_did
    LOOP
        PERFORM 1 FROM holdfast.snapshot_roots AS r WHERE r.shard = one.did_shard AND r.did = one.did AND r.cid = root;
        IF FOUND THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- Removes what no snapshot of a DID links to: blocks from where anyone finds them, and those that no upload holds either
-- altogether. Their objects become garbage, but for one that another DID's block shares (an older database that was moved
-- here has such). Only while it is the shard's turn.
CREATE FUNCTION holdfast.snapshot_sweep_v1(of_shard smallint, of_did text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    unlinked text[];
    cid_shards smallint[];
    numbers bigint[];
    shared text[];
    one record;
    gone text[];
    freed bigint;
BEGIN
    SELECT array_agg(b.cid), array_agg(b.cid_shard), array_agg(b.number) INTO unlinked, cid_shards, numbers
    FROM holdfast.snapshot_blocks AS b
    WHERE b.shard = of_shard AND b.did = of_did AND b.cid NOT IN (
        SELECT unnest(r.blocks) FROM holdfast.snapshot_roots AS r WHERE r.shard = of_shard AND r.did = of_did);
    IF unlinked IS NULL THEN
        RETURN;
    END IF;
    -- Of two DIDs that remove the same object's last places, one waits for the other.
    SELECT array_agg(DISTINCT p.cid) INTO shared FROM holdfast.snapshot_places AS p
    JOIN unnest(cid_shards, unlinked, numbers) AS w (shard, cid, number) USING (shard, cid, number)
    WHERE (holdfast.one_server_v1() OR p.shard = ANY (cid_shards)) AND p.did <> of_did;
    IF shared IS NOT NULL THEN
        FOR one IN SELECT p.shard, p.cid, p.did FROM holdfast.snapshot_places AS p
            WHERE (holdfast.one_server_v1() OR p.shard = ANY (cid_shards)) AND p.cid = ANY (shared) ORDER BY p.shard, p.cid, p.did
        LOOP
            PERFORM 1 FROM holdfast.snapshot_places AS p
            WHERE p.shard = one.shard AND p.cid = one.cid AND p.did = one.did FOR UPDATE;
        END LOOP;
    END IF;
    DELETE FROM holdfast.snapshot_places AS p USING unnest(cid_shards, unlinked) AS w (shard, cid)
    WHERE p.shard = w.shard AND p.cid = w.cid AND p.did = of_did AND (holdfast.one_server_v1() OR p.shard = ANY (cid_shards));

    SELECT array_agg(c) INTO gone FROM unnest(unlinked) AS c WHERE c NOT IN (
        SELECT unnest(u.blocks) FROM holdfast.snapshot_uploads AS u WHERE u.shard = of_shard AND u.did = of_did);
    SELECT array_agg(DISTINCT p.cid) INTO shared FROM holdfast.snapshot_places AS p
    JOIN unnest(cid_shards, unlinked, numbers) AS w (shard, cid, number) USING (shard, cid, number)
    WHERE (holdfast.one_server_v1() OR p.shard = ANY (cid_shards));
    INSERT INTO holdfast.snapshot_garbage (shard, object)
    SELECT w.shard, w.cid || '.' || w.number FROM unnest(cid_shards, unlinked, numbers) AS w (shard, cid, number)
    WHERE w.cid = ANY (gone) AND w.cid <> ALL (coalesce(shared, '{}')) ON CONFLICT DO NOTHING;
    WITH removed AS (
        DELETE FROM holdfast.snapshot_blocks AS b
        WHERE b.shard = of_shard AND b.did = of_did AND b.cid = ANY (gone) RETURNING b.size, b.stored
    ) SELECT coalesce(sum(size) FILTER (WHERE stored), 0) INTO freed FROM removed;
    PERFORM holdfast.snapshot_count_v1(of_shard, 0, 0, -freed);
END
$$;

-- Removes those of some snapshots of a DID that no pin holds and whose time without a pin is over; how many went.
CREATE FUNCTION holdfast.snapshot_drop_v1(of_shard smallint, of_did text, roots text[], at double precision)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    dropped bigint;
BEGIN
    DELETE FROM holdfast.snapshot_roots AS r
    WHERE r.shard = of_shard AND r.did = of_did AND r.cid = ANY (roots) AND r.held_until <= at AND NOT EXISTS (
        SELECT 1 FROM holdfast.snapshot_pins AS p
        WHERE p.shard = of_shard AND p.did = of_did AND p.cid = r.cid);
    GET DIAGNOSTICS dropped = ROW_COUNT;
    PERFORM holdfast.snapshot_count_v1(of_shard, -dropped, 0, 0);
    RETURN dropped;
END
$$;

-- Writes a pin under a moment that no other pin of the DID has.
CREATE FUNCTION holdfast.snapshot_insert_pin_v1(
    of_shard smallint, of_did text, request text, root text, of_name bytea, of_origins text, of_meta text,
    of_state text, at double precision, imported boolean
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.snapshot_pins
        (shard, did, request_id, cid, name, origins, meta, state, created_us, by_import)
    SELECT of_shard, of_did, request, root, of_name, of_origins, of_meta, of_state, greatest(
        trunc(at * 1000000)::bigint,
        1 + (SELECT coalesce(max(t.created_us), 0) FROM holdfast.snapshot_pins AS t
            WHERE t.shard = of_shard AND t.did = of_did)), imported;
    PERFORM holdfast.snapshot_count_v1(of_shard, 0, 1, 0);
END
$$;

CREATE FUNCTION holdfast.snapshot_one_pin_v1(of_shard smallint, of_did text, request text)
RETURNS SETOF holdfast.snapshot_pin_v1 LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT p.request_id, p.did, p.cid, p.name, p.origins, p.meta, p.state, p.created_us, r.size
    FROM holdfast.snapshot_pins AS p
    LEFT JOIN holdfast.snapshot_roots AS r ON r.shard = p.shard AND r.did = p.did AND r.cid = p.cid
    WHERE p.shard = of_shard AND p.did = of_did AND p.request_id = request;
END
$$;

-- The IPNS name to which the newest pinned snapshot of a DID delegates.
CREATE FUNCTION holdfast.snapshot_publisher_v1(of_shard smallint, of_did text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT r.publisher FROM holdfast.snapshot_pins AS p
        JOIN holdfast.snapshot_roots AS r ON r.shard = p.shard AND r.did = p.did AND r.cid = p.cid
        WHERE p.shard = of_shard AND p.did = of_did ORDER BY p.created_us DESC LIMIT 1);
END
$$;

-- The DID that keeps a snapshot, and the snapshot's blocks in the root's order; no row for one that is not kept.
CREATE FUNCTION holdfast.snapshot_root_v1(root_shard smallint, root text)
RETURNS TABLE (did text, cids text[], numbers bigint[], sizes bigint[]) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    one record;
    linked text[];
BEGIN
    FOR one IN SELECT p.did_shard, p.did FROM holdfast.snapshot_places AS p WHERE p.shard = root_shard AND p.cid = root
    LOOP
        SELECT r.blocks INTO linked FROM holdfast.snapshot_roots AS r
        WHERE r.shard = one.did_shard AND r.did = one.did AND r.cid = root;
        IF FOUND THEN
            RETURN QUERY SELECT one.did, array_agg(b.cid ORDER BY k.n), array_agg(b.number ORDER BY k.n),
                array_agg(b.size ORDER BY k.n)
            FROM unnest(linked) WITH ORDINALITY AS k (cid, n)
            JOIN holdfast.snapshot_blocks AS b ON b.shard = one.did_shard AND b.did = one.did AND b.cid = k.cid;
            RETURN;
        END IF;
    END LOOP;
END
$$;
