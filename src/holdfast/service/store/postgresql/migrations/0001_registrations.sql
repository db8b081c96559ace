-- rules/shards.py, of one text.
CREATE FUNCTION holdfast.shard_of_v1(part text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT ((get_byte(h, 0) << 4) | (get_byte(h, 1) >> 4))::smallint FROM sha256(convert_to(part, 'UTF8')) AS h
$$;

-- Charges new claims to their addresses, if the figures that admitted them are still those before them.
CREATE FUNCTION holdfast.charge_registrations_v1(claiming holdfast.registration_v1[], total_slot smallint)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    too_many boolean;
BEGIN
    WITH counted AS (
        INSERT INTO holdfast.ip_counters AS t (shard, ip, registrations)
        SELECT shard, subject, count(*) FROM (
            SELECT ip_shard AS shard, ip AS subject FROM unnest(claiming)
            UNION ALL SELECT network_shard, network FROM unnest(claiming) WHERE network IS NOT NULL
        ) AS subjects GROUP BY shard, subject ORDER BY shard, subject
        ON CONFLICT (shard, ip) DO UPDATE SET registrations = t.registrations + excluded.registrations
        RETURNING ip AS subject, registrations
    )
    SELECT bool_or(own.registrations > w.own_below OR coalesce(around.registrations, 0) > w.around_below) INTO too_many
    FROM unnest(claiming) AS w
    JOIN counted AS own ON own.subject = w.ip LEFT JOIN counted AS around ON around.subject = w.network;
    IF too_many THEN
        PERFORM holdfast.lost_race_v1();
    END IF;
    INSERT INTO holdfast.totals AS t (name, slot, value) VALUES ('registrations', total_slot, cardinality(claiming))
    ON CONFLICT (name, slot) DO UPDATE SET value = t.value + excluded.value;
END
$$;

-- Moves into the audit what the rows of these identifiers tell and will not tell any more: sessions that are displaced,
-- and registrations that the chain refused and that make way. Only while the identifiers are locked.
CREATE FUNCTION holdfast.record_changing_v1(holding holdfast.registration_v1[], displacing bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF displacing IS NOT NULL THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT w.shard, w.channel, w.key, t.created_at, 'session', t.did FROM unnest(holding) AS w
        CROSS JOIN LATERAL (
            SELECT i.created_at, i.did, i.in_audit FROM holdfast.identifiers AS i
            WHERE i.shard = w.shard AND i.channel = w.channel AND i.key = w.key LIMIT 1
        ) AS t WHERE w.n = ANY (displacing) AND NOT t.in_audit;
    END IF;
    INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
    SELECT w.shard, w.channel, w.key, t.created_at, 'registered', t.did FROM unnest(holding) AS w
    CROSS JOIN LATERAL (
        SELECT c.created_at, c.did, c.in_audit FROM holdfast.credentials AS c
        WHERE c.shard = w.shard AND c.channel = w.channel AND c.key = w.key AND c.credential = w.credential LIMIT 1
    ) AS t WHERE NOT t.in_audit;
END
$$;

-- Removes one credential of each of these identifiers that makes way for a signed one: an unconfirmed one if there is
-- one, and of several the newest. Only while the identifiers are locked.
CREATE FUNCTION holdfast.remove_unsigned_v1(replacing holdfast.registration_v1[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one holdfast.registration_v1;
    gone holdfast.credentials;
BEGIN
    FOREACH one IN ARRAY coalesce(replacing, '{}') LOOP
        DELETE FROM holdfast.credentials AS c
        WHERE c.shard = one.shard AND c.channel = one.channel AND c.key = one.key AND c.credential = (
            SELECT t.credential FROM holdfast.credentials AS t
            WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key AND NOT t.signed
                AND t.confirmation <> 'refused'
            ORDER BY t.confirmation = 'pending' DESC, t.created_at DESC, t.credential DESC LIMIT 1)
        RETURNING c.* INTO gone;
        DELETE FROM holdfast.credential_places AS p
        WHERE p.shard = gone.credential_shard AND p.credential = gone.credential;
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT one.shard, one.channel, one.key, w.at, w.action, gone.did
        FROM (VALUES (gone.created_at, 'registered'), (one.created_at, 'credential_displaced')) AS w (at, action)
        WHERE w.action <> 'registered' OR NOT gone.in_audit;
    END LOOP;
END
$$;

-- Registers what the rule, or a decision on these very facts, admits; for the others returns the facts, and writes
-- nothing. No identifier, credential or attestation may be in a batch twice. Rows are locked in one order: identifiers,
-- credentials' places, DIDs, attestations, counters, the total.
CREATE FUNCTION holdfast.register_v1(asked jsonb, total_slot smallint) RETURNS SETOF holdfast.registration_facts_v1
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    batch holdfast.registration_v1[];
    claiming holdfast.registration_v1[];
    holding holdfast.registration_v1[];
    admitted holdfast.registration_v1[];
    facts holdfast.registration_facts_v1[];
    first_seen text[];
    displacing bigint[];
    replacing holdfast.registration_v1[];
    changed bigint;
BEGIN
    SELECT array_agg(w ORDER BY w.n) INTO batch FROM jsonb_populate_recordset(NULL::holdfast.registration_v1, asked) AS w;

    SELECT array_agg(f) INTO facts FROM holdfast.registration_facts_v1(batch) AS f;
    RETURN QUERY SELECT * FROM unnest(facts);
    SELECT array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move = 'claim'),
        array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move <> 'claim'),
        array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move IS NOT NULL),
        array_agg(f.seen ORDER BY f.n) FILTER (WHERE f.move <> 'claim'),
        array_agg(f.n) FILTER (WHERE f.move = 'displace'),
        array_agg(batch[f.n] ORDER BY f.n) FILTER (WHERE f.move = 'replace')
    INTO claiming, holding, admitted, first_seen, displacing, replacing
    FROM unnest(facts) AS f;
    IF admitted IS NULL THEN
        RETURN;
    END IF;

    -- The rows that were written are counted themselves: an engine may report what was selected as ROW_COUNT.
    WITH written AS (
        INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, registered_at, in_audit)
        SELECT shard, channel, key, identifier, did, 'registered', ip, created_at, created_at, false
        FROM unnest(claiming) ORDER BY shard, channel, key ON CONFLICT DO NOTHING RETURNING 1
    ) SELECT count(*) INTO changed FROM written;
    IF changed <> coalesce(cardinality(claiming), 0) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF holding IS NOT NULL THEN
        PERFORM 1 FROM (
            SELECT 1 FROM holdfast.identifiers AS t JOIN unnest(holding) AS w USING (shard, channel, key)
            ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
        ) AS locked;
        -- Under lock, what decided must still be so.
        IF (SELECT array_agg(f.seen ORDER BY f.n) FROM holdfast.registration_facts_v1(holding) AS f)
            <> first_seen THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
        PERFORM holdfast.record_changing_v1(holding, displacing);
        PERFORM holdfast.remove_unsigned_v1(replacing);
    END IF;

    WITH written AS (
        INSERT INTO holdfast.credential_places (shard, credential, identifier_shard, channel, key)
        SELECT credential_shard, credential, shard, channel, key FROM unnest(admitted)
        ORDER BY credential_shard, credential ON CONFLICT DO NOTHING RETURNING 1
    ) SELECT count(*) INTO changed FROM written;
    IF changed <> cardinality(admitted) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    INSERT INTO holdfast.did_identifiers (shard, did, channel, key, identifier_shard)
    SELECT DISTINCT holdfast.shard_of_v1(did), did, channel, key, shard FROM unnest(admitted)
    ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;

    WITH written AS (
        INSERT INTO holdfast.used_attestations (shard, signature, expires_at)
        SELECT signature_shard, signature, signature_expires_at FROM unnest(admitted) WHERE signature IS NOT NULL
        ORDER BY signature_shard, signature ON CONFLICT DO NOTHING RETURNING 1
    ) SELECT count(*) INTO changed FROM written;
    IF changed <> (SELECT count(*) FROM unnest(admitted) WHERE signature IS NOT NULL) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF claiming IS NOT NULL THEN
        PERFORM holdfast.charge_registrations_v1(claiming, total_slot);
    END IF;

    UPDATE holdfast.identifiers AS t
    SET stage = 'registered', registered_at = coalesce(t.registered_at, w.created_at),
        did = CASE WHEN w.n = ANY (displacing) THEN w.did ELSE t.did END,
        in_audit = t.in_audit OR coalesce(w.n = ANY (displacing), false)
    FROM unnest(holding) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key;

    -- A row that the chain refused makes way.
    DELETE FROM holdfast.credentials AS t USING unnest(holding) AS w
    WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.credential = w.credential;
    INSERT INTO holdfast.credentials SELECT t.* FROM unnest(admitted) AS w
    CROSS JOIN LATERAL jsonb_populate_record(NULL::holdfast.credentials, (asked -> (w.n - 1)::integer)
        || jsonb_build_object('in_audit', coalesce(w.n = ANY (displacing), false))) AS t;

    IF displacing IS NOT NULL THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT shard, channel, key, created_at, 'displaced', did FROM unnest(holding) WHERE n = ANY (displacing);
    END IF;
END
$$;
