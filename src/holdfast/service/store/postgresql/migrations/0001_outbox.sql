-- Events, one row for each receiver that has a subscription: a lease whose name is 'events to ' and the receiver's
-- (rules/events.py). Under the shard of the identifier.
CREATE TABLE holdfast.outbox (
    shard smallint NOT NULL,
    id uuid NOT NULL DEFAULT holdfast.new_id_v1(),
    receiver text COLLATE "C" NOT NULL,
    at double precision NOT NULL,
    action text NOT NULL,
    channel text NOT NULL,
    key text NOT NULL,
    did text,
    tries integer NOT NULL DEFAULT 0,
    due_at double precision NOT NULL,
    PRIMARY KEY (shard, id)
);
CREATE INDEX outbox_due ON holdfast.outbox (receiver, due_at);
CREATE INDEX outbox_at ON holdfast.outbox (at);

-- Records an event for every receiver, in the transaction that it tells of. A credential's row tells `registered`.
CREATE FUNCTION holdfast.tell_v1(
    shards smallint[], channels text[], keys text[], ats double precision[], what text, dids text[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM holdfast.leases AS t WHERE t.name >= 'events to ' AND t.name < 'events to ~') THEN
        INSERT INTO holdfast.outbox (shard, receiver, at, action, channel, key, did, due_at)
        SELECT w.shard, substr(t.name, 11), w.at, what, w.channel, w.key, w.did, w.at
        FROM unnest(shards, channels, keys, ats, dids) AS w (shard, channel, key, at, did)
        JOIN holdfast.leases AS t ON t.name >= 'events to ' AND t.name < 'events to ~' AND t.expires_at > w.at;
    END IF;
END
$$;

-- Writes a row of the audit, and its event if it is one.
CREATE FUNCTION holdfast.record_v1(
    of_shard smallint, of_channel text, of_key text, at double precision, what text, of_did text
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    VALUES (of_shard, of_channel, of_key, record_v1.at, what, of_did);
    IF what IN ('verified', 'confirmed', 'refused', 'credential_revoked', 'credential_displaced', 'released', 'transferred',
        'renamed', 'recovered')
    THEN
        PERFORM holdfast.tell_v1(
            ARRAY[of_shard], ARRAY[of_channel], ARRAY[of_key], ARRAY[record_v1.at], what, ARRAY[of_did]);
    END IF;
END
$$;

-- Removes events that are done, and counts a try of the others.
CREATE FUNCTION holdfast.settle_events_v1(
    done_shards smallint[], done_ids uuid[], again_shards smallint[], again_ids uuid[], due_ats double precision[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    DELETE FROM holdfast.outbox AS t USING unnest(done_shards, done_ids) AS w (shard, id)
    WHERE t.shard = w.shard AND t.id = w.id AND (holdfast.one_server_v1() OR t.shard = ANY (done_shards));
    UPDATE holdfast.outbox AS t SET tries = t.tries + 1, due_at = w.due_at
    FROM unnest(again_shards, again_ids, due_ats) AS w (shard, id, due_at)
    WHERE t.shard = w.shard AND t.id = w.id AND (holdfast.one_server_v1() OR t.shard = ANY (again_shards));
END
$$;
