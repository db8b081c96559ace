-- How long a record may be cached is stored with it, so that nothing parses the record when it is read. Records that an
-- earlier release keeps count as a minute.
ALTER TABLE holdfast.snapshot_names ADD COLUMN ttl_ns bigint NOT NULL DEFAULT 60000000000;

-- Keeps a record in place of the one that was seen, while its snapshot still binds the name to the same DID.
CREATE FUNCTION holdfast.snapshot_publish_v2(
    name_shard smallint, of_name text, root_shard smallint, of_root text, of_owner_shard smallint, of_owner text,
    of_sequence bigint, of_validity text, of_ttl bigint, given bytea, at double precision, seen bytea
) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    IF NOT holdfast.snapshot_publish_v1(name_shard, of_name, root_shard, of_root, of_owner_shard, of_owner,
        of_sequence, of_validity, given, at, seen) THEN
        RETURN false;
    END IF;
    UPDATE holdfast.snapshot_names AS t SET ttl_ns = of_ttl WHERE t.shard = name_shard AND t.name = of_name;
    RETURN true;
END
$$;

-- The IPNS name to which the newest pinned snapshot of a DID delegates.
CREATE FUNCTION holdfast.snapshot_publisher_v1(of_shard smallint, of_did text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT r.publisher FROM holdfast.snapshot_pins AS p
    JOIN holdfast.snapshot_roots AS r ON r.shard = p.shard AND r.did = p.did AND r.cid = p.cid
    WHERE p.shard = of_shard AND p.did = of_did ORDER BY p.created_us DESC LIMIT 1
$$;
