-- Whether the DID's key signed the request that registered a credential.
ALTER TABLE holdfast.credentials ADD COLUMN signed boolean NOT NULL DEFAULT false;

-- rules/registration.py: RegistrationRule. The move, or NULL where the rule refuses. One of a handle's places is reserved for
-- the address that opened the session.
CREATE FUNCTION holdfast.registration_move_v2(
    held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean, used boolean,
    credentials bigint, unconfirmed bigint, signed bigint, signed_unconfirmed bigint, from_opener boolean,
    channel text, did text, reserved boolean, confirmed boolean, by_key boolean,
    own_below bigint, around_below bigint, credentials_below bigint, unconfirmed_below bigint
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN registered OR used THEN NULL
        WHEN held_by IS NULL THEN
            CASE WHEN NOT reserved AND of_ip < own_below AND of_network < around_below THEN 'claim' END
        WHEN held_by = did THEN CASE
            WHEN (confirmed OR unconfirmed < unconfirmed_below - others) AND credentials < credentials_below - others
                THEN 'continue'
            WHEN by_key AND (confirmed OR signed_unconfirmed < unconfirmed_below) AND signed < credentials_below
                THEN 'replace'
        END
        WHEN channel <> 'handle' AND held_stage = 'session' THEN 'displace'
    END
    FROM (SELECT CASE WHEN by_key OR from_opener OR channel <> 'handle' THEN 0 ELSE 1 END) AS w (others)
$$;

CREATE TYPE holdfast.registration_facts_v2 AS (
    n bigint, held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean, used boolean,
    credentials bigint, unconfirmed bigint, signed bigint, signed_unconfirmed bigint, from_opener boolean,
    seen text, move text
);

-- The facts of this moment. `signeds` tells for each `n` whether the DID's key signed the request.
CREATE FUNCTION holdfast.registration_facts_v2(batch holdfast.registration_v1[], signeds boolean[])
RETURNS SETOF holdfast.registration_facts_v2 LANGUAGE sql STABLE AS $$
    SELECT w.n, known.*, known::text, CASE
        WHEN w.decided_on IS NOT NULL THEN CASE WHEN w.decided_on = known::text THEN w.decided END
        WHEN w.own_below IS NOT NULL THEN holdfast.registration_move_v2(
            known.held_by, known.held_stage, known.of_ip, known.of_network, known.registered, known.used,
            known.credentials, known.unconfirmed, known.signed, known.signed_unconfirmed, known.from_opener,
            w.channel, w.did, w.reserved, w.confirmation = 'confirmed', signeds[w.n],
            w.own_below, w.around_below, w.credentials_below, w.unconfirmed_below)
    END
    FROM unnest(batch) AS w
    LEFT JOIN LATERAL (
        SELECT t.did AS held_by, t.stage AS held_stage, t.ip AS opener FROM holdfast.identifiers AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key LIMIT 1
    ) AS claim ON true
    CROSS JOIN LATERAL (
        SELECT count(*) AS credentials, count(*) FILTER (WHERE t.confirmation = 'pending') AS unconfirmed,
            count(*) FILTER (WHERE t.signed) AS signed,
            count(*) FILTER (WHERE t.signed AND t.confirmation = 'pending') AS signed_unconfirmed
        FROM holdfast.credentials AS t
        WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key AND t.confirmation <> 'refused'
    ) AS held
    CROSS JOIN LATERAL (
        SELECT claim.held_by, claim.held_stage,
            coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.ip_shard AND t.ip = w.ip), 0) AS of_ip,
            coalesce((SELECT t.registrations FROM holdfast.ip_counters AS t
                WHERE t.shard = w.network_shard AND t.ip = w.network), 0) AS of_network,
            EXISTS (SELECT 1 FROM holdfast.credential_places AS t
                WHERE t.shard = w.credential_shard AND t.credential = w.credential) AS registered,
            EXISTS (SELECT 1 FROM holdfast.used_attestations AS t
                WHERE t.shard = w.signature_shard AND t.signature = w.signature) AS used,
            held.credentials, held.unconfirmed, held.signed, held.signed_unconfirmed,
            coalesce(claim.opener = w.ip, false) AS from_opener
    ) AS known
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
        FROM (VALUES (gone.created_at, 'registered'), (one.now, 'credential_displaced')) AS w (at, action)
        WHERE w.action <> 'registered' OR NOT gone.in_audit;
    END LOOP;
END
$$;

-- Registers what the rule, or a decision on these very facts, admits; for the others returns the facts, and writes
-- nothing. No identifier, credential or attestation may be in a batch twice. Rows are locked in one order: identifiers,
-- credentials' places, DIDs, attestations, counters, the total.
CREATE FUNCTION holdfast.register_v2(
    shards smallint[], channels text[], keys text[], givens text[], dids text[],
    ips text[], ip_shards smallint[], networks text[], network_shards smallint[], nows double precision[],
    credential_ids text[], credential_shards smallint[], tx_hashes text[], block_numbers bigint[],
    smart_accounts text[], confirmations text[], settled_ats double precision[],
    signatures bytea[], signature_shards smallint[], signature_expiries double precision[],
    reserveds boolean[], own_belows bigint[], around_belows bigint[], credentials_belows bigint[],
    unconfirmed_belows bigint[], decisions text[], decided_ons text[], signeds boolean[],
    total_slot smallint
) RETURNS TABLE (
    n bigint, done boolean, held_by text, held_stage text, of_ip bigint, of_network bigint, registered boolean,
    used boolean, credentials bigint, unconfirmed bigint, signed bigint, signed_unconfirmed bigint, from_opener boolean,
    seen text
) LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
    batch holdfast.registration_v1[];
    claiming holdfast.registration_v1[];
    holding holdfast.registration_v1[];
    admitted holdfast.registration_v1[];
    facts holdfast.registration_facts_v2[];
    first_seen text[];
    displacing bigint[];
    replacing holdfast.registration_v1[];
    changed bigint;
BEGIN
    SELECT array_agg(ROW(w.n, w.shard, w.channel, w.key, w.given, w.did, w.ip, w.ip_shard, w.network, w.network_shard,
            w.now, w.credential, w.credential_shard, w.tx_hash, w.block_number, w.smart_account, w.confirmation,
            w.settled_at, w.signature, w.signature_shard, w.signature_expires_at, w.reserved, w.own_below,
            w.around_below, w.credentials_below, w.unconfirmed_below, w.decided, w.decided_on
        )::holdfast.registration_v1 ORDER BY w.n) INTO batch
    FROM unnest(shards, channels, keys, givens, dids, ips, ip_shards, networks, network_shards, nows, credential_ids,
            credential_shards, tx_hashes, block_numbers, smart_accounts, confirmations, settled_ats, signatures,
            signature_shards, signature_expiries, reserveds, own_belows, around_belows, credentials_belows,
            unconfirmed_belows, decisions, decided_ons) WITH ORDINALITY
        AS w (shard, channel, key, given, did, ip, ip_shard, network, network_shard, now, credential,
            credential_shard, tx_hash, block_number, smart_account, confirmation, settled_at, signature,
            signature_shard, signature_expires_at, reserved, own_below, around_below, credentials_below,
            unconfirmed_below, decided, decided_on, n);

    SELECT array_agg(f) INTO facts FROM holdfast.registration_facts_v2(batch, signeds) AS f;
    RETURN QUERY SELECT f.n, f.move IS NOT NULL, f.held_by, f.held_stage, f.of_ip, f.of_network, f.registered, f.used,
        f.credentials, f.unconfirmed, f.signed, f.signed_unconfirmed, f.from_opener, f.seen FROM unnest(facts) AS f;
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

    INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, registered_at,
        in_audit)
    SELECT shard, channel, key, given, did, 'registered', ip, now, now, false FROM unnest(claiming)
    ORDER BY shard, channel, key ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> coalesce(cardinality(claiming), 0) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF holding IS NOT NULL THEN
        PERFORM 1 FROM (
            SELECT 1 FROM holdfast.identifiers AS t JOIN unnest(holding) AS w USING (shard, channel, key)
            ORDER BY t.shard, t.channel, t.key FOR UPDATE OF t
        ) AS locked;
        -- Under lock, what decided must still be so.
        IF (SELECT array_agg(f.seen ORDER BY f.n) FROM holdfast.registration_facts_v2(holding, signeds) AS f)
            <> first_seen THEN
            PERFORM holdfast.lost_race_v1();
        END IF;
        PERFORM holdfast.record_changing_v1(holding, displacing);
        PERFORM holdfast.remove_unsigned_v1(replacing);
    END IF;

    INSERT INTO holdfast.credential_places (shard, credential, identifier_shard, channel, key)
    SELECT credential_shard, credential, shard, channel, key FROM unnest(admitted)
    ORDER BY credential_shard, credential ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> cardinality(admitted) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    INSERT INTO holdfast.did_identifiers (shard, did, channel, key, identifier_shard)
    SELECT DISTINCT holdfast.shard_of_v1(did), did, channel, key, shard FROM unnest(admitted)
    ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;

    INSERT INTO holdfast.used_attestations (shard, signature, expires_at)
    SELECT signature_shard, signature, signature_expires_at FROM unnest(admitted) WHERE signature IS NOT NULL
    ORDER BY signature_shard, signature ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> (SELECT count(*) FROM unnest(admitted) WHERE signature IS NOT NULL) THEN
        PERFORM holdfast.lost_race_v1();
    END IF;

    IF claiming IS NOT NULL THEN
        PERFORM holdfast.charge_registrations_v1(claiming, total_slot);
    END IF;

    UPDATE holdfast.identifiers AS t
    SET stage = 'registered', registered_at = coalesce(t.registered_at, w.now),
        did = CASE WHEN w.n = ANY (displacing) THEN w.did ELSE t.did END,
        in_audit = t.in_audit OR coalesce(w.n = ANY (displacing), false)
    FROM unnest(holding) AS w WHERE t.shard = w.shard AND t.channel = w.channel AND t.key = w.key;

    -- A row that the chain refused makes way.
    INSERT INTO holdfast.credentials (shard, channel, key, credential, credential_shard, identifier, did, tx_hash,
        block_number, smart_account, created_at, ask_at, confirmation, settled_at, in_audit, signed)
    SELECT shard, channel, key, credential, credential_shard, given, did, tx_hash, block_number, smart_account, now,
        now, confirmation, settled_at, coalesce(n = ANY (displacing), false), signeds[n] FROM unnest(admitted)
    ON CONFLICT (shard, channel, key, credential) DO UPDATE SET
        identifier = excluded.identifier, did = excluded.did, tx_hash = excluded.tx_hash,
        block_number = excluded.block_number, smart_account = excluded.smart_account,
        created_at = excluded.created_at, asked = 0, ask_at = excluded.ask_at,
        confirmation = excluded.confirmation, settled_at = excluded.settled_at,
        in_audit = excluded.in_audit, signed = excluded.signed;

    IF displacing IS NOT NULL THEN
        INSERT INTO holdfast.audit (shard, channel, key, at, action, did)
        SELECT shard, channel, key, now, 'displaced', did FROM unnest(holding) WHERE n = ANY (displacing);
    END IF;
END
$$;
