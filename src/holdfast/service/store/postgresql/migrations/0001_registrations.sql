-- The facts of this moment: what is known, all of it in one text, to be compared with what was known before, and the move.
CREATE FUNCTION holdfast.registration_facts_v1(batch holdfast.registration_v1[])
RETURNS SETOF holdfast.registration_facts_v1 LANGUAGE sql STABLE AS $$
    SELECT (w.asked).n, (w.known).*, w.known::text, CASE
        WHEN (w.known).banned IS NOT NULL THEN NULL
        WHEN (w.asked).decided_on IS NOT NULL
            THEN CASE WHEN (w.asked).decided_on = w.known::text THEN (w.asked).decided END
        WHEN (w.asked).own_below IS NOT NULL THEN holdfast.registration_move_v1(
            (w.known).held_by, (w.known).held_stage, (w.known).registrations_from_ip,
            (w.known).registrations_from_network, (w.known).credential_registered, (w.known).attestation_used,
            (w.known).credentials, (w.known).unconfirmed, (w.known).signed, (w.known).signed_unconfirmed,
            (w.known).from_opener, (w.asked).channel, (w.asked).did, (w.asked).reserved,
            (w.asked).confirmation = 'confirmed', (w.asked).signed, (w.asked).own_below, (w.asked).around_below,
            (w.asked).credentials_below, (w.asked).unconfirmed_below)
    END
    FROM holdfast.registration_known_v1(batch) AS w (asked, known)
$$;

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
    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('ip_counters', array(SELECT unnest(ARRAY[ip, network]) FROM unnest(claiming)));
    END IF;
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

-- Moves into the audit what the rows of these sessions tell, which are displaced. Only while they are locked.
CREATE FUNCTION holdfast.record_displaced_v1(holding holdfast.registration_v1[], displacing bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one holdfast.registration_v1;
BEGIN
    FOREACH one IN ARRAY holding LOOP
        CONTINUE WHEN one.n <> ALL (displacing);
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT t.shard, t.channel, t.key, t.created_at, 'session', t.did FROM holdfast.identifiers AS t
        WHERE t.shard = one.shard AND t.channel = one.channel AND t.key = one.key AND NOT t.in_audit;
    END LOOP;
END
$$;

-- Removes one credential of each of these identifiers that makes way for a signed one: an unconfirmed one if there is
-- one, and of several the newest. Only while the identifiers are locked.
CREATE FUNCTION holdfast.remove_unsigned_v1(replacing holdfast.registration_v1[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    one holdfast.registration_v1;
    gone holdfast.credentials;
    dids text[];
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
        dids := dids || gone.did;
        IF NOT gone.in_audit THEN
            PERFORM holdfast.record_v1(one.shard, one.channel, one.key, gone.created_at, 'registered', gone.did);
        END IF;
        PERFORM holdfast.record_v1(one.shard, one.channel, one.key, one.created_at, 'credential_displaced', gone.did);
    END LOOP;
    IF dids IS NOT NULL THEN
        PERFORM holdfast.note_orphans_v1(dids, 0);
    END IF;
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
    gone holdfast.credentials[];
    changed bigint;
    shards smallint[];
    channels text[];
    keys text[];
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

    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('identifiers', array(SELECT key FROM unnest(claiming)));
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
        SELECT array_agg(w.shard), array_agg(w.channel), array_agg(w.key) INTO shards, channels, keys
        FROM unnest(holding) AS w;
        PERFORM holdfast.lock_identifiers_v1(shards, channels, keys);
        -- Under lock, what decided must still be so.
        IF (SELECT array_agg(f.seen ORDER BY f.n) FROM holdfast.registration_facts_v1(holding) AS f)
            <> first_seen THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
        IF displacing IS NOT NULL THEN
            PERFORM holdfast.record_displaced_v1(holding, displacing);
        END IF;
        PERFORM holdfast.remove_unsigned_v1(replacing);
    END IF;

    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('credential_places', array(SELECT credential FROM unnest(admitted)));
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

    IF NOT holdfast.one_server_v1() THEN
        PERFORM holdfast.take_turns_v1('used_attestations', array(SELECT signature::text FROM unnest(admitted)));
    END IF;
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

    IF holding IS NOT NULL THEN
        UPDATE holdfast.identifiers AS t
        SET stage = 'registered', registered_at = coalesce(t.registered_at, w.created_at),
            did = CASE WHEN w.n = ANY (displacing) THEN w.did ELSE t.did END,
            in_audit = t.in_audit OR coalesce(w.n = ANY (displacing), false),
            signed = t.signed AND NOT coalesce(w.n = ANY (displacing), false)
        FROM unnest(holding) AS w
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND (holdfast.one_server_v1() OR t.shard = ANY (shards));

        -- A row that the chain refused makes way, and the audit has its record.
        WITH removed AS (
            DELETE FROM holdfast.credentials AS t USING unnest(holding) AS w
            WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.credential = w.credential
                AND (holdfast.one_server_v1() OR t.shard = ANY (shards))
            RETURNING t.*
        ) SELECT array_agg(ROW(r.*)::holdfast.credentials) INTO gone FROM removed AS r;
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT shard, channel, key, created_at, 'registered', did FROM unnest(gone) WHERE NOT in_audit;
    END IF;
    INSERT INTO holdfast.credentials SELECT t.* FROM unnest(admitted) AS w
    CROSS JOIN LATERAL jsonb_populate_record(NULL::holdfast.credentials, (asked -> (w.n - 1)::integer)
        || jsonb_build_object('in_audit', coalesce(w.n = ANY (displacing), false))) AS t;
    PERFORM holdfast.forget_dids_v1(g.shard, g.channel, g.key, ARRAY[g.did]) FROM unnest(gone) AS g;
    PERFORM holdfast.tell_v1(array_agg(w.shard), array_agg(w.channel), array_agg(w.key), array_agg(w.created_at),
        'registered', array_agg(w.did)) FROM unnest(admitted) AS w;

    IF displacing IS NOT NULL THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT shard, channel, key, created_at, 'displaced', did FROM unnest(holding) WHERE n = ANY (displacing);
    END IF;
END
$$;
