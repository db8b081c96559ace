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

-- Records an event for every receiver, in the transaction of the row that tells it. A credential's row tells `registered`.
CREATE FUNCTION holdfast.record_event_v1() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    happened double precision;
    what text := 'registered';
BEGIN
    IF TG_ARGV[0] = 'audit' THEN
        happened := NEW.at;
        what := NEW.action;
    ELSE
        happened := NEW.created_at;
    END IF;
    INSERT INTO holdfast.outbox (shard, receiver, at, action, channel, key, did, due_at)
    SELECT NEW.shard, substr(t.name, 11), happened, what, NEW.channel, NEW.key, NEW.did, happened
    FROM holdfast.leases AS t
    WHERE t.name >= 'events to ' AND t.name < 'events to ~' AND t.expires_at > happened;
    RETURN NULL;
END
$$;
CREATE TRIGGER audit_told AFTER INSERT ON holdfast.audit FOR EACH ROW
WHEN (NEW.action IN (
    'verified', 'confirmed', 'refused', 'credential_revoked', 'credential_displaced', 'released', 'transferred', 'renamed',
    'recovered'))
EXECUTE FUNCTION holdfast.record_event_v1('audit');
CREATE TRIGGER credentials_told AFTER INSERT ON holdfast.credentials FOR EACH ROW
EXECUTE FUNCTION holdfast.record_event_v1('credentials');

-- Removes events that are done, and counts a try of the others.
CREATE FUNCTION holdfast.settle_events_v1(
    done_shards smallint[], done_ids uuid[], again_shards smallint[], again_ids uuid[], due_ats double precision[]
) RETURNS void LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
    DELETE FROM holdfast.outbox AS t USING unnest(done_shards, done_ids) AS w (shard, id)
    WHERE t.shard = w.shard AND t.id = w.id;
    UPDATE holdfast.outbox AS t SET tries = t.tries + 1, due_at = w.due_at
    FROM unnest(again_shards, again_ids, due_ats) AS w (shard, id, due_at) WHERE t.shard = w.shard AND t.id = w.id;
END
$$;
